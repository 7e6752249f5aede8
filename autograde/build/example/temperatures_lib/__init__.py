"""What students of the course import."""
