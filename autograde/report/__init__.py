"""What people read after grading."""
