"""The folder of compiled code, attacked as another user of the machine would: no file is lost, no foreign code is read.

These tests need the right to act as several users, and `setpriv` of util-linux. They make no accounts on the machine:
the number of a user is enough.
"""

from __future__ import annotations

import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import samedeal
from samedeal.engine import cache

ROOT = Path(__file__).resolve().parents[2]
HANG = 1800
"""Seconds after which a process counts as hung."""
USER, OTHER, GROUP = 61001, 61002, 61000
"""Two users, and the group of both."""
FOLDER = "samedeal-engine-v1"
MARKER = "CACHEDIR.TAG"
HOSTS = {
    "python": [sys.executable, "-c", "import samedeal; print(samedeal.Sampler(100, seed=9).indices(0, 3).tolist())"],
    "command": [
        str(ROOT / "target/engine/debug/samedeal"),
        "indices",
        "--samples=100",
        "--seed=9",
        "--count=3",
        "--format=text",
    ],
}


def test_as_root() -> None:
    """Runs all tests of this file for a user who may become the superuser without a password."""
    words = ["sudo", "-n", sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__]
    done = subprocess.run(words, capture_output=True, text=True, timeout=HANG, check=False)
    assert done.returncode == 0, f"only root can be several users: {' '.join(words)}\n{done.stdout}{done.stderr}"


@pytest.fixture
def machine() -> Iterator[Path]:
    """A folder of the superuser that all users may enter, as they may enter /. (pytest's folder is closed to
    others.)"""
    path = Path(tempfile.mkdtemp(prefix="samedeal-guest-"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


@pytest.fixture
def home(machine: Path) -> Path:
    """The home of the user, with a file."""
    home = make(machine / "home", USER)
    (home / "main.py").write_text("text")
    os.chown(home / "main.py", USER, GROUP)
    return home


def make(path: Path, user: int, mode: int = 0o755) -> Path:
    """Makes a folder of a user."""
    path.mkdir()
    path.chmod(mode)
    os.chown(path, user, GROUP)
    return path


def deal(host: str, user: int = USER, umask: int = 0o022, caller: int | None = None, **environment: str) -> None:
    """Deals as a user; the call must succeed in any case. The user may read every file, so that the interpreter can be
    anywhere, and may write only its own files."""
    ids = [f"--euid={user}", f"--ruid={user if caller is None else caller}", f"--regid={GROUP if user else 0}"]
    reads = ["--inh-caps=-all,+dac_read_search", "--ambient-caps=+dac_read_search"] if user else []
    done = subprocess.run(
        ["setpriv", *ids, "--clear-groups", *reads, *HOSTS[host]],
        env={"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1", **environment},
        umask=umask,
        cwd="/",
        capture_output=True,
        text=True,
        timeout=HANG,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    wanted = samedeal.Sampler(100, seed=9).indices(0, 3).tolist()
    assert [int(number) for number in re.findall(r"[0-9]+", done.stdout)] == wanted


def attack(code: str) -> int:
    """Starts a program in Python as the other user; returns the id of its process."""
    child = os.fork()
    if child:
        return child
    try:
        os.setgroups([])
        os.setgid(GROUP)
        os.setuid(OTHER)
        os.umask(0)
        exec(code, {"os": os, "pathlib": pathlib})
        os._exit(0)
    except BaseException as error:
        print(error, file=sys.stderr, flush=True)
        os._exit(1)


def attacked(code: str) -> bool:
    """Whether a program of the other user succeeds."""
    return os.waitpid(attack(code), 0)[1] == 0


def kept(folder: Path) -> list[Path]:
    """The cached code anywhere below a folder."""
    return sorted(folder.rglob("*.code"))


def everything_in(folder: Path) -> dict[str, tuple[int, int, int, int, bytes | None]]:
    """Owners, modes, times and contents of all files, by their names."""
    return {
        str(path.relative_to(folder)): (
            found.st_uid,
            found.st_gid,
            found.st_mode,
            found.st_mtime_ns,
            path.read_bytes() if path.is_file() and not path.is_symlink() else None,
        )
        for path in [folder, *folder.rglob("*")]
        for found in [path.lstat()]
    }


each_host = pytest.mark.parametrize("host", HOSTS)


@each_host
@pytest.mark.parametrize("umask", [0, 0o002, 0o022, 0o077])
def test_nobody_else_can_reach_what_is_kept(host: str, umask: int, home: Path, machine: Path) -> None:
    make(machine / "open", 0, 0o777)
    deal(host, umask=umask, HOME=str(home))
    made = home / ".cache" / FOLDER
    assert kept(home)
    assert {path.stat().st_mode & 0o077 for path in [made, *made.iterdir()]} == {0}
    before = everything_in(made)
    for path in [made / MARKER, *kept(home)]:
        at, link = str(path), str(machine / "open/link")
        for do in (
            *(f"open({at!r}, {mode!r})" for mode in ("rb", "r+b", "wb", "ab")),
            f"os.unlink({at!r})",
            f"os.rename({at!r}, {at + '.old'!r})",
            f"os.link({at!r}, {link!r})",
            f"os.chmod({at!r}, 0o777)",
        ):
            assert not attacked(do), do
    assert everything_in(made) == before
    # The next process finds the code.
    deal(host, HOME=str(home))
    assert everything_in(made) == before


@each_host
@pytest.mark.parametrize(
    ("where", "mode"),
    [(".", 0o777), (".", 0o2775), (".cache", 0o775), (f".cache/{FOLDER}", 0o775), (f".cache/{FOLDER}", 0o777)],
)
def test_a_folder_where_others_can_write_is_not_used(host: str, where: str, mode: int, home: Path) -> None:
    deal(host, HOME=str(home))
    for path in kept(home):
        path.unlink()
    (home / where).chmod(mode)
    before = everything_in(home)
    deal(host, HOME=str(home))
    assert everything_in(home) == before


def planted(at: Path, victim: Path) -> dict[str, str]:
    """Attacks: folders that another user may prepare at a path that the user will take for a cache."""
    marked = f"at = pathlib.Path({str(at)!r})\nmade = at / {FOLDER!r}\n"
    mark = f"(made / {MARKER!r}).write_bytes({cache._MARK!r})\n"
    opened = "made.chmod(0o777)\nat.chmod(0o777)"
    code = "for host in 'python', 'rust':\n  (made / f'{host}-{0:064x}.code').write_bytes(bytes(100))\n"
    return {
        "a link to the home": f"os.symlink({str(victim)!r}, {str(at)!r})",
        "a link to a folder of the home": f"os.symlink({str(victim / 'project')!r}, {str(at)!r})",
        "a link to nothing": f"os.symlink({str(victim / 'new')!r}, {str(at)!r})",
        "a link to itself": f"os.symlink({str(at)!r}, {str(at)!r})",
        "a folder": f"os.mkdir({str(at)!r}, 0o777); os.chmod({str(at)!r}, 0o777)",
        "a sticky folder": f"os.mkdir({str(at)!r}); os.chmod({str(at)!r}, 0o1777)",
        "a marked folder": f"{marked}made.mkdir(parents=True)\n{mark}{code}made.chmod(0o700)\nat.chmod(0o755)",
        "a marked folder that is open": f"{marked}made.mkdir(parents=True)\n{mark}{code}{opened}",
        "a link in a folder": f"{marked}at.mkdir()\nmade.symlink_to({str(victim / 'project')!r})",
        "a pipe": f"os.mkfifo({str(at)!r}, 0o666)",
        "a file": f"open({str(at)!r}, 'w').write('text')",
    }


@each_host
@pytest.mark.parametrize("what", planted(Path("a"), Path("b")))
def test_what_another_user_left_is_neither_used_nor_changed(host: str, what: str, home: Path, machine: Path) -> None:
    shared = make(machine / "tmp", 0, 0o1777)
    project = make(home / "project", USER, 0o700)
    # The user's own files have names as in the cache. They must not be mistaken for it.
    (project / "samedeal").mkdir()
    for name in ("src.py", f"python-{0:064x}.code", "samedeal/main.py"):
        (project / name).write_text("text")
    at = shared / "caches"
    assert attacked(planted(at, home)[what])
    before = everything_in(machine)
    deal(host, HOME=str(home), XDG_CACHE_HOME=str(at))
    assert everything_in(machine) == before


@each_host
def test_in_a_sticky_folder_that_all_share(host: str, home: Path, machine: Path) -> None:
    shared = make(machine / "tmp", 0, 0o1777)
    # Another user made the folder first.
    assert attacked(f"os.mkdir({str(shared / FOLDER)!r}, 0o777)")
    before = everything_in(shared)
    deal(host, HOME=str(home), XDG_CACHE_HOME=str(shared))
    assert everything_in(shared) == before
    (shared / FOLDER).rmdir()
    # The user made the folder first, so that the other user cannot replace it.
    deal(host, HOME=str(home), XDG_CACHE_HOME=str(shared))
    assert kept(shared)
    before = everything_in(shared)
    assert not attacked(f"os.rename({str(shared / FOLDER)!r}, {str(shared / 'old')!r})")
    assert everything_in(shared) == before
    # A folder below one of the other user can be replaced, so it is not used.
    own = make(machine / "own", OTHER)
    make(own / "caches", USER, 0o700)
    before = everything_in(own)
    deal(host, HOME=str(home), XDG_CACHE_HOME=str(own / "caches"))
    assert everything_in(own) == before


@each_host
@pytest.mark.parametrize("owner", [0, USER, OTHER])
@pytest.mark.parametrize("through", ["last", "middle/caches", "over"])
def test_links_of_the_user_and_of_the_superuser_alone_are_followed(
    host: str, owner: int, through: str, home: Path, machine: Path
) -> None:
    disk = make(machine / "disk", USER)
    caches = make(disk / "caches", USER)
    (machine / "last").symlink_to(caches)
    (machine / "middle").symlink_to("disk")
    (machine / "over").symlink_to("over-again")
    (machine / "over-again").symlink_to("disk/../middle/caches")
    for link in machine.iterdir():
        if link.is_symlink():
            os.lchown(link, owner, GROUP)
    deal(host, HOME=str(home), XDG_CACHE_HOME=str(machine / through))
    assert bool(kept(caches)) is (owner != OTHER)


@each_host
@pytest.mark.parametrize("name", ["HOME", "XDG_CACHE_HOME"])
def test_the_superuser_with_the_home_of_a_user_makes_nothing_there(host: str, name: str, home: Path) -> None:
    """For example under `sudo` with the user's environment: root must not leave files in a home, or run a user's
    code."""
    before = everything_in(home)
    deal(host, user=0, **{"HOME": "/nonexistent", name: str(home)})
    assert everything_in(home) == before
    deal(host, HOME=str(home), XDG_CACHE_HOME=str(home))
    code = kept(home)
    assert code
    for path in code:
        # The file is complete, so it would be used if it were read.
        path.unlink()
    before = everything_in(home)
    deal(host, user=0, HOME=str(home), XDG_CACHE_HOME=str(home))
    assert everything_in(home) == before


@each_host
def test_a_program_of_another_user_that_all_may_run_keeps_nothing(host: str, home: Path, machine: Path) -> None:
    """The program runs with the rights of its owner (setuid), in the environment of its caller."""
    caches = make(machine / "caches", USER)
    deal(host, caller=OTHER, HOME=str(home), XDG_CACHE_HOME=str(caches))
    assert [*caches.iterdir()] == []
    deal(host, HOME=str(home), XDG_CACHE_HOME=str(caches))
    assert kept(caches)


def test_a_program_with_the_capabilities_of_its_file_keeps_nothing(home: Path, machine: Path) -> None:
    program = machine / "samedeal"
    shutil.copy(HOSTS["command"][0], program)
    words = [str(program), *HOSTS["command"][1:]]
    # The attribute for CAP_NET_RAW, permitted and effective (revision 2).
    capability = struct.pack("<5I", 0x02000001, 1 << 13, 0, 0, 0)
    for given in (capability, None):
        if given is None:
            os.removexattr(program, "security.capability")
        else:
            os.setxattr(program, "security.capability", given)
        ids = [f"--reuid={USER}", f"--regid={GROUP}", "--clear-groups"]
        subprocess.run(["setpriv", *ids, *words], env={"HOME": str(home)}, cwd="/", check=True, timeout=HANG)
        assert bool(kept(home)) is (given is None)


@pytest.mark.parametrize("saved", ["user", "group"])
def test_a_superuser_who_became_a_user_for_a_while_keeps_nothing(saved: str, home: Path) -> None:
    groups = f"os.setresgid({GROUP}, {GROUP}, {0 if saved == 'group' else GROUP})"
    users = f"{groups}; os.setresuid({USER}, {USER}, {0 if saved == 'user' else USER})"
    # Modules are imported before the change of users, because the superuser can read them.
    code = f"import os, ctypes, numpy, samedeal; {users}; print(samedeal.Sampler(100, seed=9).indices(0, 3))"
    environment = {"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1", "HOME": str(home)}
    subprocess.run([sys.executable, "-c", code], env=environment, cwd="/", check=True, timeout=HANG)
    assert kept(home) == []


@each_host
def test_in_a_user_namespace_without_a_map_nothing_is_kept(host: str, home: Path) -> None:
    """In a user namespace without a map, all users appear under one number, so the owner of a folder cannot be
    checked."""
    words = ["setpriv", f"--reuid={USER}", f"--regid={GROUP}", "--clear-groups", "unshare", "--user", *HOSTS[host]]
    environment = {"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1", "HOME": str(home)}
    done = subprocess.run(words, env=environment, cwd="/", capture_output=True, text=True, timeout=HANG, check=False)
    assert done.returncode == 0 or "denied" in done.stderr.lower(), done.stderr
    assert kept(home) == []


@pytest.mark.parametrize("blocks", [100, 200])
def test_a_limit_for_files_ends_no_program(blocks: int, home: Path) -> None:
    """Blocks have 512 bytes. With 200, the first content of a memory fits into a file, with 100 it does not. Code never
    fits."""
    words = ["sh", "-c", f'ulimit -f {blocks}; exec "$@"', "sh", *HOSTS["command"]]
    ids = ["setpriv", f"--reuid={USER}", f"--regid={GROUP}", "--clear-groups"]
    for _ in range(2):
        subprocess.run([*ids, *words], env={"HOME": str(home)}, cwd="/", check=True, timeout=HANG)
    assert [path.name for path in (home / ".cache" / FOLDER).iterdir()] == [MARKER]
    asked = [HOSTS["command"][0], "--version"]
    answer = subprocess.run([*ids, *words[:4], *asked], env={"HOME": str(home)}, stdout=subprocess.PIPE, check=True)
    assert b"ulimit -f" in answer.stdout


@each_host
def test_a_umask_that_takes_everything_away(host: str, home: Path) -> None:
    deal(host, umask=0o777, HOME=str(home))
    assert kept(home)
    assert {path.stat().st_mode & 0o777 for path in [home / ".cache", *kept(home)]} == {0o700, 0o600}


@each_host
def test_a_home_that_cannot_be_written_to(host: str, home: Path) -> None:
    home.chmod(0o555)
    os.chown(home, 0, 0)
    before = everything_in(home)
    deal(host, HOME=str(home))
    assert everything_in(home) == before


@each_host
def test_a_folder_that_is_replaced_while_processes_begin(host: str, home: Path, machine: Path) -> None:
    """The other user changes a shared folder again and again, so that changes come between a check and the use."""
    shared = make(machine / "tmp", 0, 0o1777)
    at = shared / "caches"
    evil = shared / "evil"
    make(make(evil, OTHER, 0o777) / FOLDER, OTHER, 0o777)
    other = attack(f"""
while os.getppid() == {os.getpid()}:
  for make in lambda at: os.symlink({str(home)!r}, at), lambda at: os.symlink({str(evil)!r}, at), os.mkdir:
    for do in make, os.unlink, os.rmdir:
      try: do({str(at)!r})
      except OSError: pass
""")
    try:
        before = everything_in(home)
        for _ in range(10):
            deal(host, HOME=str(home), XDG_CACHE_HOME=str(at))
    finally:
        os.kill(other, signal.SIGKILL)
        os.waitpid(other, 0)
    assert everything_in(home) == before
    assert kept(evil) == []
    assert all(path.stat().st_uid == USER for path in kept(shared))
