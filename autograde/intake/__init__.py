"""A submission as it is handed in: read without trust, cleaned, and put into the release."""
