"""What runs in the student's process. It imports nothing of this repository but itself."""
