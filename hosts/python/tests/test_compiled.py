"""Compiled code is cached for the next process, in a folder where no other user can write. The first process does not
wait for it."""

from __future__ import annotations

import ctypes
import json
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from limits import HANG
from samedeal import Sampler
from samedeal.engine import cache, component
from samedeal.engine import code as codes

FOLDER = "samedeal-engine-v1"
WINCH = pytest.mark.skipif(not component.has_winch(), reason="Winch is not used here")
FIRST = """
import os, signal, sys, threading, samedeal
from samedeal.engine import component
WANTED = [6, 5, 7]
def deal():
    assert samedeal.Sampler(10, seed=42, rank=1, world_size=4, order="torch").indices().tolist() == WANTED
"""
"""The first lines of a first process."""
FINGERPRINT = "import samedeal; print(samedeal.Sampler(1000, seed=9, world_size=3).fingerprint())"

posix = pytest.mark.skipif(os.name != "posix", reason="the folders of other systems differ")


def deal_in(home: Path, **variables: str) -> list[Path]:
    """Deals in a new process of a user with this home; returns the files that are cached then."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("XDG_")}
    environment |= {"HOME": str(home), **variables}
    words = [sys.executable, "-c", FINGERPRINT]
    job = subprocess.run(words, capture_output=True, text=True, env=environment, check=True, timeout=HANG)
    assert (job.stdout.strip(), job.stderr) == (Sampler(1000, seed=9, world_size=3).fingerprint(), "")
    folders = [home, *map(Path, variables.values())]
    return sorted({path for folder in folders for path in folder.rglob("*.code") if path.is_file()})


def everything_in(folder: Path) -> dict[str, tuple[int, int, bytes | None]]:
    """Names, modes, times and contents of all files."""
    return {
        str(path.relative_to(folder)): (found.st_mode, found.st_mtime_ns, path.read_bytes() if path.is_file() else None)
        for path in [folder, *folder.rglob("*")]
        for found in [path.lstat()]
    }


def keeps() -> bool:
    """Whether this process can cache code that another process will find."""
    cache.keep(b"key", b"facts", b"code")
    return found() == (b"facts", b"code")


def found() -> tuple[bytes, bytes] | None:
    """The facts and the code in the cache."""

    def read(facts: bytes, code: str | bytes) -> tuple[bytes, bytes]:
        whole = Path(code).read_bytes() if isinstance(code, str) else code
        return facts, whole[: whole.index(facts)]

    return cache.load(b"key", read)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    tmp_path.chmod(0o755)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    return tmp_path


@posix
def test_the_next_process_finds_what_was_compiled(home: Path) -> None:
    kept = deal_in(home)
    assert kept
    before = everything_in(home)
    assert deal_in(home) == kept
    assert everything_in(home) == before


@posix
def test_what_is_kept_may_be_spoilt(home: Path) -> None:
    whole = [path.read_bytes() for path in deal_in(home)]
    for start, end, put in ((0, None, b""), (-1, None, b""), (5000, 5001, b"x"), (0, 32, bytes(32)), (40, None, b"x")):
        for path, code in zip(deal_in(home), whole, strict=True):
            path.write_bytes(code[:start] + put + (b"" if end is None else code[end:]))
        deal_in(home)
        assert [path.read_bytes() for path in deal_in(home)] == whole


@posix
@pytest.mark.parametrize("name", ["samedeal", FOLDER, f"{FOLDER}/modules", "."])
@pytest.mark.parametrize("marker", [None, b"", b"Signature: 8a477f597d28d172789f06886806bc55\n"])
def test_files_of_the_user_stay(home: Path, name: str, marker: bytes | None) -> None:
    own = home / ".cache" / name
    (own / ".git").mkdir(parents=True)
    for file in ("main.py", ".git/HEAD", "wasmtime.toml", "model.code"):
        (own / file).write_text("text")
    (own / "link").symlink_to(home)
    if marker is not None:
        (home / ".cache" / name.partition("/")[0] / "CACHEDIR.TAG").write_bytes(marker)
    before = everything_in(own)
    assert keeps() is (name in ("samedeal", "."))
    if name == ".":
        # The cache makes its folder beside the user's files, which changes the time of this directory.
        before["."] = everything_in(own)["."]
        assert before.items() <= everything_in(own).items()
    else:
        assert everything_in(own) == before


@posix
def test_the_oldest_files_go_and_no_others(home: Path) -> None:
    assert keeps()
    made = home / ".cache" / FOLDER
    for number in range(40):
        path = made / f"{'rust' if number % 2 else 'python'}-{number:064x}.code"
        path.write_bytes(b"")
        os.utime(path, (number, number))
    others = ["main.py", "python-1.code", f"python-{0:064x}.code.py", f"ruby-{0:064x}.code"]
    for name in others:
        (made / name).write_text("text")
        os.utime(made / name, (0, 0))
    cache.keep(b"another", b"", b"code")
    left = {path.name for path in made.iterdir()}
    assert left > {*others, "CACHEDIR.TAG"}
    assert len(left) == 32 + len(others) + 1
    assert keeps()


@posix
@pytest.mark.parametrize("mode", [0o775, 0o777, 0o757])
@pytest.mark.parametrize("where", [".", ".cache", f".cache/{FOLDER}"])
def test_nothing_is_kept_where_others_can_write(home: Path, where: str, mode: int) -> None:
    (home / ".cache" / FOLDER).mkdir(parents=True)
    (home / where).chmod(mode)
    assert not keeps()


@posix
@pytest.mark.parametrize("mode", [0o750, 0o755, 0o711, 0o1777])
def test_a_folder_that_was_opened_to_others_is_not_used(home: Path, mode: int) -> None:
    assert keeps()
    (home / ".cache" / FOLDER).chmod(mode)
    assert not keeps()


@posix
def test_nothing_is_kept_where_a_link_leads_to_others(home: Path) -> None:
    shared = home / "common"
    (shared / "caches").mkdir(parents=True)
    shared.chmod(0o777)
    (home / ".cache").symlink_to("common/../common/caches")
    assert not keeps()
    assert [*shared.rglob("*")] == [shared / "caches"]
    # A link of the user to another folder of the user, such as one on a larger disk, is followed.
    shared.chmod(0o755)
    assert keeps()


@posix
def test_the_last_part_is_no_link(home: Path) -> None:
    other = home / "other"
    other.mkdir(mode=0o700)
    (home / ".cache").mkdir()
    (home / ".cache" / FOLDER).symlink_to(other)
    assert not keeps()
    assert [*other.iterdir()] == []


@posix
@pytest.mark.parametrize("kind", ["pipe", "link", "folder", "other"])
def test_the_marker_is_a_file_of_this_text(home: Path, kind: str) -> None:
    assert keeps()
    marker = home / ".cache" / FOLDER / "CACHEDIR.TAG"
    text = marker.read_bytes()
    marker.unlink()
    if kind == "pipe":
        os.mkfifo(marker)
    elif kind == "link":
        (home / "marker").write_bytes(text)
        marker.symlink_to(home / "marker")
    elif kind == "folder":
        marker.mkdir()
    else:
        marker.write_bytes(text + b"\n")
    assert not keeps()


@posix
def test_a_file_that_is_a_pipe_or_a_link_is_made_anew(home: Path) -> None:
    assert keeps()
    (path,) = (home / ".cache" / FOLDER).glob("*.code")
    path.rename(home / "code")
    os.mkfifo(path)
    assert found() is None
    assert keeps()
    path.unlink()
    path.symlink_to(home / "code")
    assert found() is None
    assert keeps()
    assert stat.S_ISREG(path.lstat().st_mode)


@posix
@pytest.mark.parametrize("umask", [0, 0o002, 0o077, 0o277, 0o777])
def test_what_is_made_is_for_the_user_alone(home: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        assert keeps()
    finally:
        os.umask(before)
    kept = [*(home / ".cache" / FOLDER).iterdir()]
    modes = {path: path.stat().st_mode & 0o777 for path in [home / ".cache", home / ".cache" / FOLDER, *kept]}
    assert modes == {path: 0o700 if path.is_dir() else 0o600 for path in modes}


@posix
def test_processes_that_begin_at_once(home: Path) -> None:
    environment = {**os.environ, "HOME": str(home), "XDG_CACHE_HOME": ""}
    jobs = [
        subprocess.Popen([sys.executable, "-c", FINGERPRINT], env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(6)
    ]
    wanted = Sampler(1000, seed=9, world_size=3).fingerprint()
    assert [job.communicate(timeout=HANG)[0].strip() for job in jobs] == [wanted] * len(jobs)
    assert [path.name for path in (home / ".cache").iterdir()] == [FOLDER]
    assert len([*(home / ".cache" / FOLDER).iterdir()]) == 1 + len(deal_in(home))


@posix
@pytest.mark.parametrize("most", [0, 50, 5000])
def test_where_the_disk_is_full_nothing_is_left(home: Path, most: int) -> None:
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, before[1]))
    try:
        cache.keep(b"key", b"", bytes(10_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    made = [path.name for path in (home / ".cache").rglob("*")]
    assert made == ([FOLDER, "CACHEDIR.TAG"] if most == 5000 else [])


@posix
@pytest.mark.skipif(not hasattr(signal, "SIGXFSZ"), reason="no signal")
@pytest.mark.parametrize("most", [512, 51_200, 102_400])
def test_a_file_size_limit_ends_no_program(home: Path, most: int) -> None:
    first(
        home,
        f"""
import resource
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
resource.setrlimit(resource.RLIMIT_FSIZE, ({most}, {most}))
deal()
component.process.settle()
path, reason = component.process.kept_at()
assert path is None and "ulimit -f" in reason, reason
""",
    )
    assert [path.name for path in (home / ".cache").rglob("*")] == [FOLDER, "CACHEDIR.TAG"]


@posix
def test_what_ended_processes_left_goes_and_nothing_else(home: Path) -> None:
    assert keeps()
    caches = home / ".cache"
    (marker,) = caches.rglob("CACHEDIR.TAG")
    stale = time.time() - 3600
    made: dict[str, Path] = {}
    for number, (kind, content) in enumerate(
        {"empty": None, "marker": marker.read_bytes(), "begun": b"Sig", "user": b"text", "young": None}.items()
    ):
        folder = made[kind] = caches / f"{FOLDER}.{number:016x}"
        folder.mkdir(mode=0o700)
        if content is not None:
            (folder / "CACHEDIR.TAG").write_bytes(content)
    (made["empty"] / f"CACHEDIR.TAG.{7:016x}").touch()
    made["other"] = caches / f"{FOLDER}.mine"
    made["other"].mkdir(mode=0o700)
    made["open"] = caches / f"{FOLDER}.{9:016x}"
    made["open"].mkdir()
    made["open"].chmod(0o755)
    made["link"] = caches / f"{FOLDER}.{8:016x}"
    made["link"].symlink_to(made["other"])
    for kind, path in made.items():
        os.utime(path, (stale, stale) if kind != "young" else None, follow_symlinks=False)
    part = caches / FOLDER / f"rust-{1:064x}.code.{2:016x}"
    part.write_bytes(b"")
    os.utime(part, (stale, stale))
    assert found() == (b"facts", b"code")
    assert {kind for kind, path in made.items() if path.exists()} == {"user", "young", "other", "open", "link"}
    assert keeps()
    assert not part.exists()


@posix
@pytest.mark.parametrize("at", ["mkdir", "fsync", "rename"])
def test_an_interrupted_start_leaves_no_folder(home: Path, monkeypatch: pytest.MonkeyPatch, at: str) -> None:
    do = getattr(os, at)

    def interrupt(*arguments: Any, **options: Any) -> None:
        if at == "mkdir":
            do(*arguments, **options)
        if at != "mkdir" or FOLDER in str(arguments[0]):
            raise KeyboardInterrupt

    monkeypatch.setattr(os, at, interrupt)
    with pytest.raises(KeyboardInterrupt):
        cache.keep(b"key", b"facts", b"code")
    monkeypatch.undo()
    assert [*(home / ".cache").iterdir()] == []


@posix
def test_times_of_the_future_count_as_the_oldest(home: Path) -> None:
    assert keeps()
    made = home / ".cache" / FOLDER
    future = time.time() + 10**6
    for number in range(40):
        path = made / f"python-{number:064x}.code"
        path.write_bytes(b"")
        os.utime(path, (future, future))
    assert keeps()
    cache.keep(b"another", b"", b"code")
    assert found() == (b"facts", b"code")
    assert len([*made.iterdir()]) == 32 + 1


@posix
def test_an_empty_home_is_none(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import pwd

    entry = pwd.struct_passwd(("name", "", os.getuid(), 0, "", str(home), ""))
    monkeypatch.setattr(pwd, "getpwuid", lambda _: entry)
    monkeypatch.setenv("HOME", "")
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    assert keeps()
    assert (home / ".cache" / FOLDER).is_dir()


@posix
@pytest.mark.parametrize("what", ["mode", "parent", "marker", "home", "none"])
def test_why_nothing_is_kept_can_be_asked(home: Path, what: str, capsys: pytest.CaptureFixture[str]) -> None:
    caches, variables = home / ".cache", {"HOME": str(home)}
    if what != "none":
        assert keeps()
    if what == "mode":
        (caches / FOLDER).chmod(0o755)
    elif what == "parent":
        caches.chmod(0o775)
    elif what == "marker":
        (caches / FOLDER / "CACHEDIR.TAG").write_bytes(b"")
    elif what == "home":
        variables["HOME"] = str(home / "none")
    words = [sys.executable, "-m", "samedeal", "cache", "--json"]
    environment = {**os.environ, **variables, "XDG_CACHE_HOME": ""}
    answer = json.loads(subprocess.run(words, env=environment, capture_output=True, text=True, check=True).stdout)
    named = {
        "mode": f"{caches / FOLDER} is no folder of this user with the mode 0700 (it has 0755)",
        "parent": f"other users can write to {caches} (mode 0775)",
        "marker": f"{caches / FOLDER / 'CACHEDIR.TAG'} is not what samedeal writes",
        "home": f"{home / 'none'}",
    }
    if what == "none":
        assert Path(answer["path"]).parent == caches / FOLDER
        assert answer["reason"] is None
    else:
        assert answer["path"] is None
        assert named[what] in answer["reason"]


def test_another_version_of_the_engine_has_other_code(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    version = codes._engine_version()
    before = codes.kept_at(component.COMPONENT, False)
    # The modification time of the library does not matter: an installation of the same version has the same code.
    monkeypatch.setattr(os, "stat", None)
    assert codes.kept_at(component.COMPONENT, False) == before
    monkeypatch.setattr(codes, "_engine_version", lambda: f"{version}.1")
    assert codes.kept_at(component.COMPONENT, False) != before


@posix
def test_caches_may_be_elsewhere(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    caches = home / "caches"
    # A folder that does not exist is made.
    assert any(path.is_relative_to(caches) for path in deal_in(home, XDG_CACHE_HOME=str(caches)))
    shared = home / "common"
    shared.mkdir()
    shared.chmod(0o777)
    assert deal_in(home / "none", XDG_CACHE_HOME=str(shared)) == []
    # A relative path is ignored.
    monkeypatch.chdir(home)
    monkeypatch.setenv("XDG_CACHE_HOME", "shared/../caches")
    assert keeps()
    assert (home / ".cache" / FOLDER).is_dir()
    # The cache directory in a configuration of wasmtime is ignored.
    config = home / "config/wasmtime/config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(f'[cache]\ndirectory = "{shared}"\n')
    assert deal_in(home, XDG_CONFIG_HOME=str(home / "config"))
    assert [*shared.iterdir()] == []


@posix
def test_a_user_without_a_home(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert deal_in(home / "none") == []
    assert not (home / "none").exists()
    (home / "file").write_text("text")
    monkeypatch.chdir(home)
    for given in (home / "file", home / "none/none", "relative", "."):
        monkeypatch.setenv("HOME", str(given))
        assert not keeps()
    assert {path.name for path in home.iterdir()} == {"file"}


@posix
@pytest.mark.parametrize("what", ["getuid", "getgid", "getresuid", "getresgid", "geteuid", "capabilities"])
def test_a_program_with_more_rights_than_its_caller_keeps_nothing(
    home: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    if what == "capabilities":

        class Process:
            @staticmethod
            def getauxval(number: int) -> int:
                return int(number == 23)

        monkeypatch.setattr(ctypes, "CDLL", lambda _: Process)
    elif not hasattr(os, what):
        pytest.skip("this system has no saved numbers")
    elif "res" in what:
        monkeypatch.setattr(os, what, lambda: (0, 0, 1))
    elif what == "geteuid":
        # In a user namespace without a map, every user has this number.
        monkeypatch.setattr(os, "geteuid", lambda: 65534)
        monkeypatch.setattr(os, "getuid", lambda: 65534)
        monkeypatch.setattr(os, "getresuid", lambda: (65534,) * 3)
        home.chmod(0o777)
        made = home / ".cache" / FOLDER
        made.mkdir(parents=True, mode=0o700)
        (made / "CACHEDIR.TAG").write_bytes(cache._MARK)
        for path in [home, home / ".cache", made, made / "CACHEDIR.TAG"]:
            if os.geteuid() == 65534 and os.access("/root", os.W_OK):
                os.chown(path, 65534, -1)
        before = everything_in(home)
        assert not keeps()
        assert everything_in(home) == before
        return
    else:
        monkeypatch.setattr(os, what, lambda: -1)
    assert not keeps()
    assert [*home.iterdir()] == []


def first(home: Path, code: str, *, status: int = 0, **variables: str) -> list[bytes]:
    """Runs a program in a new home with an empty cache; returns the cached files."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("XDG_")}
    environment |= {"HOME": str(home), **variables}
    # The warning about forks with threads is ignored: a child does not use the threads of its parent's engine.
    words = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", FIRST + code]
    job = subprocess.run(words, capture_output=True, text=True, env=environment, check=False, timeout=HANG)
    assert (job.returncode, job.stderr) == (status, "")
    return [path.read_bytes() for path in (home / ".cache").rglob("*.code")]


@WINCH
def test_the_first_process_begins_with_code_of_its_own(home: Path) -> None:
    (kept,) = first(
        home,
        """
deal()
before = component.process.compiled()
component.process.settle()
after = component.process.compiled()
assert after is not before
deal()
# It is what was kept.
core = after.code()[1]
assert core != before.code()[1]
folder, = os.scandir(os.path.expanduser("~/.cache"))
assert any(open(file, "rb").read().startswith(core) for file in os.scandir(folder))
""",
    )
    assert deal_in(home)
    assert [path.read_bytes() for path in deal_in(home)] == [kept]


@WINCH
@pytest.mark.parametrize("why", ["nothing can be kept", "address space is scarce"])
def test_where_a_first_process_compiles_once(home: Path, why: str) -> None:
    limit = "import resource\nresource.setrlimit(resource.RLIMIT_AS, (2**34, 2**34))\n"
    variables: dict[str, Any] = {"HOME": str(home / "none")} if why == "nothing can be kept" else {}
    kept = first(
        home,
        (limit if why == "address space is scarce" else "")
        + """
deal()
before = component.process.compiled()
component.process.settle()
assert component.process.compiled() is before
""",
        **variables,
    )
    assert bool(kept) is (why == "address space is scarce")


@posix
def test_a_first_process_that_forks_waits_for_the_code_and_hands_it_on(home: Path) -> None:
    first(
        home,
        """
deal()
def child():
    # Neither threads of the parent nor its engine: what it compiled, or what another process did.
    assert threading.active_count() == 1 and component.process._codes
    import shutil
    shutil.rmtree(os.path.expanduser("~/.cache"))
    deal()
    assert component.process._thread is None
pid = os.fork()
if pid == 0:
    code = 1
    try:
        child()
        code = 0
    finally:
        os._exit(code)
assert os.waitpid(pid, 0)[1] == 0
assert not component.process._thread.is_alive()
deal()
""",
    )


@posix
def test_processes_that_are_forked_from_one_that_has_not_compiled(home: Path) -> None:
    kept = first(
        home,
        """
children = []
for _ in range(4):
    pid = os.fork()
    if pid == 0:
        # Each ends like a program, while its thread compiles.
        deal()
        sys.exit()
    children.append(pid)
assert [os.waitpid(pid, 0)[1] for pid in children] == [0] * 4
""",
    )
    assert len(kept) == 1
    assert [path.read_bytes() for path in deal_in(home)] == kept


@posix
@pytest.mark.parametrize("end", ["os._exit(3)", "os.kill(os.getpid(), signal.SIGKILL)"])
def test_a_first_process_that_is_gone_before_its_code_is_kept(home: Path, end: str) -> None:
    status = 3 if "_exit" in end else -9
    assert first(home, f"deal()\n{end}", status=status) in ([], [path.read_bytes() for path in deal_in(home)])
    assert deal_in(home)


@posix
@pytest.mark.parametrize("after", [0.0, 0.01, 0.05, 0.1, 0.3])
def test_a_first_process_that_is_interrupted(home: Path, after: float) -> None:
    """The interruption reaches the caller, and the next call finds the code that the thread compiled meanwhile."""
    (kept,) = first(
        home,
        f"""
import numpy  # It cannot be imported again where its import was interrupted.
def interrupt(*_):
    raise KeyboardInterrupt
signal.signal(signal.SIGALRM, interrupt)
try:
    signal.setitimer(signal.ITIMER_REAL, {after} + 1e-6)
    deal()
    signal.pause()
except KeyboardInterrupt:
    pass
deal()
""",
    )
    assert [path.read_bytes() for path in deal_in(home)] == [kept]


@posix
def test_threads_that_begin_at_once_in_a_first_process(home: Path) -> None:
    first(
        home,
        """
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(8) as pool:
    list(pool.map(lambda _: deal(), range(32)))
component.process.settle()
deal()
""",
    )


@posix
def test_code_is_mapped_from_a_disk_of_this_machine_alone(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.keep(b"key", b"facts", b"code")
    used: list[str | bytes] = []

    def use(facts: bytes, code: str | bytes) -> str | None:
        used.append(code)
        return None if refuses and isinstance(code, str) else "used"

    refuses = False
    monkeypatch.setattr(cache, "_is_on_a_disk_of_this_machine", lambda _: sys.platform == "linux")
    assert cache.load(b"key", use) == "used"
    # A system may refuse to map code, for example on a disk that is mounted with noexec.
    refuses = True
    assert cache.load(b"key", use) == "used"
    monkeypatch.setattr(cache, "_is_on_a_disk_of_this_machine", lambda _: False)
    assert cache.load(b"key", use) == "used"
    kinds = [type(code) for code in used]
    assert kinds == ([str, str, bytes, bytes] if sys.platform == "linux" else [bytes] * 3)
    # The mapped file has the same code.
    assert Path(str(used[0])).read_bytes() == used[-1] or sys.platform != "linux"
