"""The outer sandbox without bubblewrap: namespaces, and a root in which only what is bound exists.

It is entered once, by a program that was started for it and has nothing of the grader's in memory.
"""

import os

import kernel

_NAMESPACES = (
    kernel.NEW_MOUNTS | kernel.NEW_PIDS | kernel.NEW_NETWORK | kernel.NEW_IPC
    | kernel.NEW_UTS | kernel.NEW_CGROUP
)  # fmt: skip
_BASE = "/tmp"  # every system has it; the new root is mounted over it
_OLD = "/.old"


def enter(root: dict, as_root: bool, proc: int) -> None:
    """Move this program into a root of its own; `root` is a RootFs of `autograde.sandbox.mounts`.

    With `as_root` it stays root, so that it can become nobody inside. Others need a user namespace,
    whose map is written through `proc`, an open handle of /proc. Raises OSError with the step that
    failed.
    """
    user, group = os.geteuid(), os.getegid()
    own = 0 if as_root else kernel.NEW_USER
    kernel.unshare(_NAMESPACES | own, "outer namespaces")
    if own:
        map_ids(proc, user, group, user, group)
    go_on_as_first_process()
    kernel.mount("", "/", flags=kernel.PRIVATE | kernel.RECURSIVE)
    kernel.mount("tmpfs", _BASE, "tmpfs", kernel.NO_SUID, "mode=755")
    os.mkdir(_BASE + _OLD)
    kernel.move_root(_BASE, _BASE + _OLD)
    _mount(root)
    kernel.unmount(_OLD)
    os.rmdir(_OLD)
    _make_read_only(root)


def map_ids(proc: int, user: int, group: int, *outside: int) -> None:
    """Map one user and one group of this process's new user namespace to those `outside`.

    `proc` is an open handle of /proc.
    """
    texts = {"setgroups": "deny", "uid_map": f"{user} {outside[0]} 1"}
    texts["gid_map"] = f"{group} {outside[1]} 1"
    for name, text in texts.items():
        file = os.open(f"self/{name}", os.O_WRONLY | os.O_CLOEXEC, dir_fd=proc)
        os.write(file, text.encode())
        os.close(file)


def go_on_as_first_process() -> None:
    """Go on in a child, which alone is in the new process namespace; this one waits for its end."""
    child = os.fork()
    if child:
        _, status = os.waitpid(child, 0)
        os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


def _mount(root: dict) -> None:
    """Bind what is to be seen, at its place under the new root."""
    for path in root["binds"] + root["devices"]:
        _bind(_OLD + path, path)
    _bind(_OLD + root["program"], root["inside"])
    for link, target in root["links"]:
        os.makedirs(os.path.dirname(link), exist_ok=True)
        os.symlink(target, link)
    for path in root["masks"]:
        kernel.mount("tmpfs", path, "tmpfs", kernel.NO_SUID, "mode=755,size=4k")
    for path, _ in root["scratch"]:
        os.makedirs(path, exist_ok=True)


def _bind(source: str, target: str) -> None:
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT, 0o644))
    kernel.mount(source, target, flags=kernel.BIND | kernel.RECURSIVE)


def _make_read_only(root: dict) -> None:
    """Nothing can be written any more, except in the scratch folders."""
    for path in [*root["binds"], root["inside"], *root["masks"]]:
        kernel.make_read_only(path)
    for path, mib in root["scratch"]:
        mount_scratch(path, mib)
    # Only the mount of / itself: those below it are read-only, and devices stay writable.
    kernel.mount("", "/", flags=0x20 | kernel.READ_ONLY | kernel.NO_SUID | kernel.BIND)


def mount_scratch(path: str, mib: int) -> None:
    """An empty folder in memory, of at most `mib` MiB and a few thousand files."""
    flags = kernel.NO_SUID | kernel.NO_DEVICES
    kernel.mount("tmpfs", path, "tmpfs", flags, f"mode=1777,size={mib}m,nr_inodes=4096")
