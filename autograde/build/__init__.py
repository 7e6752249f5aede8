"""From a chapter's text to the source notebook, the student release and the executed solution."""
