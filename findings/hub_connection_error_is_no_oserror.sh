#!/bin/sh
# huggingface_hub 2.4.0: without a connection, `HfApi.model_info` raises httpx2.ConnectError, which is
# no OSError, and so neither ConnectionError nor what `except OSError` catches. While the hub's client
# was built on requests, its ConnectionError was an OSError. `hf_hub_download` still raises
# LocalEntryNotFoundError, which is an OSError: two calls of one library, two kinds of error for one
# cause. Code that treats "no network" as OSError works for the one and ends in a traceback for the
# other.
#
# Seen on 2026-11-28: "model_info ConnectError OSError: False", "hf_hub_download
# LocalEntryNotFoundError OSError: True".
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet huggingface_hub==2.4.0
HF_HUB_CACHE="$folder/cache" HF_HUB_DISABLE_PROGRESS_BARS=1 "$folder/venv/bin/python" - 2>/dev/null <<'P'
from huggingface_hub import HfApi, hf_hub_download

NOBODY_LISTENS = "http://127.0.0.1:9"
calls = {
    "model_info": lambda: HfApi(NOBODY_LISTENS).model_info("owner/model"),
    "hf_hub_download": lambda: hf_hub_download("owner/model", "a", endpoint=NOBODY_LISTENS),
}
is_os_error = {}
for name, call in calls.items():
    try:
        call()
    except Exception as error:
        is_os_error[name] = isinstance(error, OSError)
        print(name, type(error).__name__, "OSError:", is_os_error[name])
assert is_os_error == {"model_info": False, "hf_hub_download": True}, "the behaviour has changed"
P
echo "huggingface_hub 2.4.0 behaves as described"
