"""What students import: sampling, the lessons' checks, figures and simulators."""
