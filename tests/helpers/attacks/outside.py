"""Attacks on what is outside of the process: files, network, resources, other submissions."""

from attacks.kinds import LISTENER, Attack

_READ = """
for path in PATHS:
    attempt(path, lambda: open(path, "rb").read(1))
"""
_PLANT = """
open("left", "w").write("REACHED")
open("/dev/shm/left", "w").write("REACHED")
libc.syscall(240, b"left", os.O_CREAT | os.O_RDWR, 0o666, 0)
import builtins, numpy, specdec_lib, threading, time
builtins.left = numpy.left = specdec_lib.left = True
sys.modules["left"] = numpy
os.environ["LEFT"] = "1"
threading.Thread(target=time.sleep, args=(100,), daemon=True).start()
name = socket.socket(socket.AF_UNIX); name.bind("\\0left"); name.listen(1)
"""
_LOOK = """
import builtins, numpy, specdec_lib, threading
if os.path.exists("left") or os.path.exists("/dev/shm/left"):
    print("REACHED file")
if libc.syscall(240, b"left", os.O_RDWR, 0, 0) >= 0:
    print("REACHED queue")
if any(hasattr(m, "left") for m in (builtins, numpy, specdec_lib)) or "left" in sys.modules:
    print("REACHED module")
if "LEFT" in os.environ or threading.active_count() > 1:
    print("REACHED environment or thread")
attempt("socket", lambda: socket.socket(socket.AF_UNIX).connect("\\0left"))
"""
_SERVER = """
for handle in range(3, 256):
    try:
        os.write(handle, b'{"started": true}')
    except OSError:
        pass
"""
_LOCK = """
import fcntl
fcntl.flock(open(os.__file__), fcntl.LOCK_EX)
import time; time.sleep(0.1)
"""

REACH = {
    "files of the machine": _READ.replace(
        "PATHS", '("/etc/passwd", "/etc/shadow", "/etc/hostname", "/var/log/syslog", "/bin/sh")'
    ),
    "folders of the machine": """
own = os.getcwd()  # /tmp may be another name of it
for path in ("/", "/home", "/root", "/tmp", "/proc", "/etc", "/sys", "/var", "/run", ".."):
    if os.path.realpath(path) != own:
        attempt(path, lambda: os.listdir(path))
""",
    "modules of the grader": """
hidden = "autograde.hidden_tests.test_02_rejection_sampling"
for name in ("autograde", hidden, "autograde.sandbox.session", "tests"):
    attempt(name, lambda: __import__(name))
""",
    "programs and packages changed": """
import numpy, specdec_lib
for module in (os, numpy, specdec_lib, sys.modules["__main__"].wire):
    folder = os.path.dirname(module.__file__)
    for name in (module.__file__, folder + "/sitecustomize.py"):
        attempt(name, lambda: open(name, "a").close())
""",
    "links out of the folder": """
os.symlink("/etc/passwd", "there")
attempt("link", lambda: open("there").read())
attempt("hard link", lambda: os.link(os.__file__, "hard"))
os.chdir("..")
open("escaped", "w"); print("REACHED parent")
""",
    "memory of others": _READ.replace(
        "PATHS", '("/proc/1/mem", "/proc/self/mem", "/proc/1/environ", "/dev/mem", "/dev/kmem")'
    ),
    "device made": """
os.mknod("disk", 0o60600, os.makedev(254, 0))
open("disk", "rb").read(1); print("REACHED")
""",
    "secrets of the environment": """
known = {"PATH", "HOME", "TMPDIR", "MPLCONFIGDIR", "LANG", "LC_CTYPE", "MPLBACKEND", "PWD",
         "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"}
if set(os.environ) - known or sys.argv != [""] or "solutions" in str(sys.orig_argv[:4]):
    print("REACHED", set(os.environ) - known, sys.argv)
""",
    "network": """
for family, kind, address in ((2, 1, ("127.0.0.1", 22)), (2, 2, ("8.8.8.8", 53)),
                              (10, 1, ("::1", 22)), (40, 1, (2, 1024)), (16, 3, (0, 0)),
                              (17, 3, ("lo", 0)), (38, 5, ("hash", "sha1"))):
    attempt(family, lambda: socket.socket(family, kind).connect(address))
""",
    "named sockets": """
for name in ("\\0LISTENER", "/var/run/docker.sock", "/run/dbus/system_bus_socket"):
    attempt(repr(name), lambda: socket.socket(socket.AF_UNIX).connect(name))
""".replace("LISTENER", LISTENER),
    "another program": """
import subprocess
print("REACHED", subprocess.run(["/bin/sh", "-c", "id"], capture_output=True).stdout)
""",
    "another process": """
for call in (os.fork, os.forkpty, lambda: libc.vfork()):
    try:
        if call() == 0:
            os._exit(0)
        print("REACHED" if ctypes.get_errno() == 0 else "")
    except OSError:
        pass
""",
    "system calls": """
calls = {"keyctl": (250, 0, -3, 1), "add_key": (248, 0, 0, 0, 0, -3), "io_uring": (425, 1, 0),
         "bpf": (321, 0, 0, 0), "userfaultfd": (323, 0), "perf": (298, 0, 0, 0, -1, 0),
         "shmget": (29, 77, 4096, 0o1666), "memfd": (319, b"x", 0), "setns": (308, 3, 0),
         "unshare": (272, 0x10000000), "mount": (165, 0, b"/", 0, 0, 0), "getfd": (438, 3, 0, 0),
         "ptrace": (101, 16, 1), "vm_readv": (310, 1, 0, 0, 0, 0, 0), "kexec": (246, 0, 0, 0, 0),
         "personality": (135, 0x40000), "inotify": (294, 0), "open_tree": (428, -100, b"/", 1),
         "parent's death": (157, 1, 0)}
if os.uname().machine == "x86_64":
    for name, (number, *arguments) in calls.items():
        ctypes.set_errno(0)
        if libc.syscall(number, *arguments) >= 0 or ctypes.get_errno() not in (1, 38):
            print("REACHED", name, ctypes.get_errno())
""",
    "signals": """
import signal
for process in (-1, 0, 1, os.getppid(), *range(2, 400)):
    if process not in (0, os.getpid()):
        attempt(process, lambda: os.kill(process, 0))
""",
    "open files of the server": """
open_ones = []
for handle in range(3, 256):
    try:
        os.fstat(handle); open_ones.append(handle)
    except OSError:
        pass
if len(open_ones) > 2:  # its link: one to read from and one to write to
    print("REACHED", open_ones)
""",
    "programs by way of IPython": """
shell = get_ipython()
said = !echo a program
said += [*shell.getoutput("id"), *shell.run_line_magic("sx", "cat /etc/passwd")]
!touch started
if said or os.path.exists("started"):
    print("REACHED", said)
attempt("IPython's own method", lambda: shell.__class__.system_raw(shell, "id"))
""",
}
EXHAUST = {
    "memory": "import numpy as np\nx = [np.zeros(2**27) for _ in range(9)]; print('REACHED')",
    "threads": "import threading, time\nfor _ in range(5000):\n"
    "    threading.Thread(target=time.sleep, args=(9,), daemon=True).start()\nprint('REACHED')",
    "disk": "with open('big', 'wb') as file:\n    for _ in range(2000):\n"
    "        file.write(bytes(2**20))\nprint('REACHED')",
    "many disks": "for n in range(40):\n    with open(str(n), 'wb') as file:\n"
    "        file.write(bytes(4 * 2**20))\nprint('REACHED')",
    "files": "for n in range(10**6):\n    open(str(n), 'w').close()\nprint('REACHED')",
    "open files": "keep = [open(os.devnull) for _ in range(2000)]\nprint('REACHED')",
    "output": "print('x' * 10**7)\nprint('REACHED' * 10)",
    "shared memory": "from multiprocessing import shared_memory\n"
    "keep = [shared_memory.SharedMemory(create=True, size=2**24) for _ in range(40)]\n"
    "for part in keep:\n    part.buf[:] = bytes(2**24)\nprint('REACHED')",
}
LOSE = {
    "native loop": "import re; re.match('(a+)+$', 'a' * 60 + 'b')",
    "loop that ignores signals": "import signal\nfor n in range(1, 65):\n    try:\n"
    "        signal.signal(n, signal.SIG_IGN)\n    except (OSError, ValueError):\n        pass\n"
    "while True: pass",
    "one byte a second": "import time\nwhile True:\n    time.sleep(0.3)\n"
    "    for n in range(3, 9):\n        try:\n            os.write(n, b'\\0')\n"
    "        except OSError:\n            pass",
    "calls of i386": """
import mmap
if os.uname().machine == "x86_64":
    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(b"\\xb8\\x14\\x00\\x00\\x00\\xcd\\x80\\xc3")  # mov eax, 20; int 0x80; ret: getpid
    address = ctypes.addressof(ctypes.c_char.from_buffer(page))
    print("REACHED", ctypes.CFUNCTYPE(ctypes.c_int)(address)())
else:
    os._exit(1)
""",
    "calls of x32": """
if os.uname().machine == "x86_64":
    print("REACHED", libc.syscall(0x40000000 + 39))
else:
    os._exit(1)
""",
    "stack": "sys.setrecursionlimit(10**9)\ndef f(): f()\nf()",
}
ATTACKS = [
    *(Attack(name, "reach", code) for name, code in REACH.items()),
    *(Attack(f"exhausting {name}", "resources", code) for name, code in EXHAUST.items()),
    *(Attack(name, "resources", code, loses=True) for name, code in LOSE.items()),
    Attack("what the one before left", "persistence", _LOOK, before=_PLANT),
    Attack("the server after a forged message", "server", "pass", before=_SERVER),
    Attack("locks on shared files", "persistence", "pass", before=_LOCK),
]
