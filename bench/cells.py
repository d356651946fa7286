"""What bench/LAYER/rows has in common where the layer's program is a list of cells (bench/cells.h): running cells in turns,
beside peers in Java, on a machine that is now and then busy, and making rows of them.

Cells that are compared run in turns: each once, then each again. A row shows Weir's median and the best peer's; its
note names that peer and gives every peer's median, and how long a cache line took there and back meanwhile. A budget
is a multiple of the best peer's median of the same run. A cell whose items do not all come out right ends the run.

A virtual machine is at times several times slower between its processors, for seconds or minutes. A turn begins when
a cache line is quick, or when two minutes have been spent waiting for that; what was measured all the same says so.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
VERSUS = ROOT / "bench/versus"
CLASSES = ROOT / "build/bench/versus"
CLASSPATH = f"{CLASSES}/classes:{CLASSES}/lib/*"
QUIET_NS = 250  # a slower cache line means that the machine is busy, or its processors far apart
WAITED_S_MAX = 120  # in a whole run
CELL_S_MAX = 120  # a cell that lost what it waits for
JMH_WARM_UPS = 5  # as many as RxJava's own runs had; fewer leave methods half compiled
JAVA = "Java "  # how its peers begin


def say(text):
    print(text, file=sys.stderr, flush=True)


def run(*command, **more):
    try:
        done = subprocess.run([str(word) for word in command], cwd=ROOT, stdout=subprocess.PIPE, text=True,
                              timeout=CELL_S_MAX, **more)
    except subprocess.TimeoutExpired:
        sys.exit(f"{' '.join(map(str, command))} did not end")
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} ended with status {done.returncode}")
    return done.stdout


def own_session():
    """A session of its own: the scheduler's grouping by session must not tie these processes to whoever started us. The
    new group keeps the old one's priority."""
    if os.getpid() == os.getsid(0):
        return
    group = pathlib.Path("/proc/self/autogroup")
    try:
        words = group.read_text().split()  # "/autogroup-41 nice 0"; nothing at all where sessions are not grouped
    except OSError:
        words = []
    priority = words[-1] if words else "0"
    try:
        os.setsid()
        if priority != "0":
            group.write_text(priority)
    except OSError:
        pass  # measured as it is


class Cell:
    """One figure of one queue: a cell of the program."""

    def __init__(self, program, about):
        self.program, self.number = program, about["cell"]
        self.group, self.way, self.who, self.unit = (about[key] for key in ("group", "way", "who", "unit"))
        self.values = []

    def start(self):
        """Gets ready for measure; most have nothing to do."""

    def measure(self, how):
        ms = how.ms if self.group != "calibration" else how.ms / 5
        self.values.append(float(run(self.program, "run", self.number, ms)))

    def stop(self):
        """Ends what start began."""

    def median(self):
        return statistics.median(self.values)


class JavaCell(Cell):
    def __init__(self, group, way, who, unit):
        self.group, self.way, self.who, self.unit = group, way, JAVA + who, unit
        self.values = []


class JmhCell(JavaCell):
    """A method of a JMH class: a process with its own warm-up for each run, and the JVM as it comes: with another
    garbage collector it may turn what is made for one operation into nothing at all."""

    def __init__(self, method, row, who, parameters=()):
        super().__init__(row, "one", who, "/s")
        self.method, self.parameters = method, parameters

    def measure(self, how):
        result = ROOT / "build/bench/jmh.json"
        run("java", "-cp", CLASSPATH, "org.openjdk.jmh.Main", f"{self.method}$", "-f", 1, "-i", 1,
            "-r", f"{how.jmh_ms}ms", "-wi", JMH_WARM_UPS, "-w", f"{how.jmh_ms}ms", "-foe", "true", "-v", "SILENT",
            "-rf", "json", "-rff", result, *self.parameters, stderr=subprocess.DEVNULL)
        self.values.append(json.loads(result.read_text())[0]["primaryMetric"]["score"])


def why_no_java():
    """Builds the peers in Java; says why there are none, or None."""
    for tool in ("java", "mvn"):
        if not shutil.which(tool):
            return f"there is no {tool} here: Debian has openjdk-17-jdk-headless and maven"
    sources = [VERSUS / "pom.xml", *VERSUS.glob("src/**/*.java")]
    stamp = CLASSES / "built"
    if not stamp.exists() or any(source.stat().st_mtime > stamp.stat().st_mtime for source in sources):
        say("building the peers in Java")
        if subprocess.run(["mvn", "-q", "-B", "-f", VERSUS / "pom.xml", "process-classes"], cwd=ROOT,
                          stdout=sys.stderr).returncode != 0:
            return "Maven could not build bench/versus (see above); it needs Maven Central once"
        stamp.touch()
    return None


def figure(value, unit):
    return f"{value:,.0f} {unit}" if value < 1e4 or unit == "ns" else f"{value / 1e6:,.4g} M{unit}"


def note_of(value, ranked, unit):
    """Every peer's figure, and what ours is of it."""
    return "; ".join(f"{who} {figure(other, unit)} ({value / other:.2f}x)" for who, other in ranked)


def ranked(peers, unit):
    """Of names and medians, the best first."""
    return sorted(peers.items(), key=lambda item: item[1], reverse=unit == "/s")


def missing_peers(cells, peers):
    """Of peers, by how their names begin and how to get them, what to say of those the program was built without."""
    return [f"built without {peer}: {how}" for peer, how in peers.items()
            if not any(cell.who.startswith(peer) for cell in cells)]


def await_quiet(calibration, how):
    """Looks how quick the machine is until it is quick, or the time for that is used up."""
    calibration.measure(how)
    while calibration.values[-1] > QUIET_NS and how.wait_s > 0:
        began = time.monotonic()
        time.sleep(0.2)
        calibration.values.pop()
        calibration.measure(how)
        how.wait_s -= time.monotonic() - began
        if how.wait_s <= 0:
            say("the machine stays busy; going on")


def measure(cells, calibration, how):
    """Runs cells in turns."""
    calibration.values = []
    try:
        for cell in cells:
            cell.start()
        for _ in range(how.runs):
            await_quiet(calibration, how)
            for cell in cells:
                cell.measure(how)
    finally:
        for cell in cells:
            cell.stop()


def calibrate(cell, how, when):
    cell.values = []
    for _ in range(max(how.runs, 3)):
        cell.measure(how)
    row = {"row": f"a cache line there and back, {when}", "weir": cell.median(), "peer": None, "limit": None,
           "unit": "ns", "better": "less", "budget": None, "values": cell.values}
    if cell.median() > QUIET_NS:
        row["note"] = f"above {QUIET_NS} ns: the machine was busy, and figures of two threads are low"
    print(json.dumps(row), flush=True)


def arguments(about):
    """What every rows program understands: runs, milliseconds and what is left out."""
    parser = argparse.ArgumentParser(formatter_class=argparse.RawDescriptionHelpFormatter, description=about)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--no-java", action="store_true")
    parser.add_argument("--runs", type=int)
    parser.add_argument("--only", type=re.compile, default=re.compile(""))
    parser.add_argument("--program", type=pathlib.Path, required=False)
    how = parser.parse_args()
    runs, how.ms, how.jmh_ms = 5, 100, 300
    if how.quick:
        runs, how.ms, how.jmh_ms = 1, 30, 100
    if how.check:
        runs, how.ms, how.no_java = 1, 0, True
    how.runs = how.runs or runs
    how.wait_s = 0 if how.quick or how.check else WAITED_S_MAX
    return how


def cells_of(program):
    """The cells of a program, and the one that says how quick the machine is."""
    cells = [Cell(program, json.loads(line)) for line in run(program, "list").splitlines()]
    (calibration,) = [cell for cell in cells if cell.group == "calibration"]
    cells.remove(calibration)
    return cells, calibration


def grouped(cells):
    groups = {}
    for cell in cells:
        groups.setdefault(cell.group, []).append(cell)
    return groups
