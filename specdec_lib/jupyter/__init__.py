"""Settings of the JupyterLab that `specdec start` opens; no code of ours imports them."""
