"""What stands beside the chapters: visible checks, hints, predictions, figures and simulators."""
