"""The outer fence without bubblewrap: namespaces, and a root in which only what is bound exists.

Entered once, by a program that was started for it and knows nothing of the grader yet.
"""

import os

import kernel

_NAMESPACES = (
    kernel.NEW_MOUNTS | kernel.NEW_PIDS | kernel.NEW_NETWORK | kernel.NEW_IPC
    | kernel.NEW_UTS | kernel.NEW_CGROUP
)  # fmt: skip
_BASE = "/tmp"  # there on every system; the new root is mounted over it
_OLD = "/.old"


def enter(plan: dict, as_root: bool) -> None:
    """Move this program into a room of its own; `plan` is what `autograde.sandbox.outer` made.

    `as_root` stays root, so that it can become nobody inside; others need a user namespace.
    Raises OSError with the step that failed.
    """
    user, group = os.geteuid(), os.getegid()
    own = 0 if as_root else kernel.NEW_USER
    kernel.unshare(_NAMESPACES | own, "outer namespaces")
    if own:
        map_ids("/proc/self", user, group, user, group)
    go_on_as_first_process()
    kernel.mount("", "/", flags=kernel.PRIVATE | kernel.RECURSIVE)
    kernel.mount("tmpfs", _BASE, "tmpfs", kernel.NO_SUID, "mode=755")
    os.mkdir(_BASE + _OLD)
    kernel.move_root(_BASE, _BASE + _OLD)
    furnish(plan)
    kernel.unmount(_OLD)
    os.rmdir(_OLD)
    seal(plan)


def map_ids(process: str | int, user: int, group: int, *outside: int) -> None:
    """Map one user and one group of a new user namespace to those `outside`.

    `process` is the process's folder, or an open handle of the whole of /proc.
    """
    texts = {"setgroups": "deny", "uid_map": f"{user} {outside[0]} 1"}
    texts["gid_map"] = f"{group} {outside[1]} 1"
    for name, text in texts.items():
        path, folder = (f"{process}/{name}", None) if isinstance(process, str) else (name, process)
        path = path if folder is None else f"self/{name}"
        handle = os.open(path, os.O_WRONLY | os.O_CLOEXEC, dir_fd=folder)
        os.write(handle, text.encode())
        os.close(handle)


def go_on_as_first_process() -> None:
    """Only the children of a process are in its new namespace: go on in one, wait for its end."""
    child = os.fork()
    if child:
        _, status = os.waitpid(child, 0)
        os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


def furnish(plan: dict) -> None:
    """Bind what is to be seen, at its place under the new root."""
    for path in plan["binds"] + plan["devices"]:
        _bind(_OLD + path, path)
    _bind(_OLD + plan["program"], plan["inside"])
    for link, target in plan["links"]:
        os.makedirs(os.path.dirname(link), exist_ok=True)
        os.symlink(target, link)
    for path in plan["masks"]:
        kernel.mount("tmpfs", path, "tmpfs", kernel.NO_SUID, "mode=755,size=4k")
    for path in plan["folders"]:
        os.makedirs(path, exist_ok=True)


def _bind(source: str, target: str) -> None:
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT, 0o644))
    kernel.mount(source, target, flags=kernel.BIND | kernel.RECURSIVE)


def seal(plan: dict) -> None:
    """Nothing can be written any more, but for what is scratch."""
    for path in plan["binds"] + [plan["inside"], *plan["masks"]]:
        kernel.make_read_only(path)
    for path, size in plan["scratch"]:
        scratch(path, size)
    # Only the root's own mount: those below it are sealed, and devices and scratch stay writable.
    kernel.mount("", "/", flags=0x20 | kernel.READ_ONLY | kernel.NO_SUID | kernel.BIND)


def scratch(path: str, mib: int) -> None:
    """An empty folder in memory, at most `mib` MiB and a few thousand files."""
    flags = kernel.NO_SUID | kernel.NO_DEVICES
    kernel.mount("tmpfs", path, "tmpfs", flags, f"mode=1777,size={mib}m,nr_inodes=4096")
