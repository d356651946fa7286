"""What a user of the command sees: the way it should go, and what bad input gets. Every error must name the thing, and
have the exit status that docs/command.md promises."""
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest

WEIR = os.environ["WEIR"]
SAMPLE = os.environ["WEIR_SAMPLE"]
QUERY = "SELECT * FROM debian.*"

MALFORMED, NOT_FOUND, INVALID, UNREACHABLE, LOCKED, IN_USE, UNSUPPORTED, CANCELLED = 12, 16, 11, 20, 23, 24, 28, 29
DISK_FULL, UNREAD = 25, 141


class Node:
    def __init__(self, data, listen="127.0.0.1:0"):
        self.data = data
        self.process = subprocess.Popen([WEIR, "node", "run", "--data", str(data), "--listen", listen],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        # The node's first line says that it is ready; a node that cannot start ends, and so does its output.
        if not self.process.stdout.readline():
            raise AssertionError(self.process.stderr.read())
        self.address = json.loads((data / "node.json").read_text())["listen"]

    def connect(self):
        host, port = self.address.rsplit(":", 1)
        return socket.create_connection((host, int(port)), timeout=30)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        out, err = self.process.communicate(timeout=30)
        return self.process.returncode, out, err


class CommandTest(unittest.TestCase):
    def setUp(self):
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="weir-scenario-"))
        self.nodes = []

    def tearDown(self):
        for node in self.nodes:
            if node.process.poll() is None:
                node.process.kill()
            node.process.communicate()
        shutil.rmtree(self.work)

    def data(self, name):
        path = self.work / name
        path.mkdir(exist_ok=True)
        return path

    def node(self, name, **how):
        self.nodes.append(Node(self.data(name), **how))
        return self.nodes[-1]

    def weir(self, *words, status=0, stdin=None):
        done = subprocess.run([WEIR, *map(str, words)], input=stdin, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, status, f"weir {words}:\n{done.stdout}\n{done.stderr}")
        return done

    def json(self, *words, **how):
        return [json.loads(line) for line in self.weir(*words, "--json", **how).stdout.splitlines()]

    def write(self, name, text):
        path = self.work / name
        path.write_text(text)
        return path

    def publish_sample(self, name):
        return self.json("publish", "debian.packages", SAMPLE, "--data", self.data(name))[-1]

    # --- the way it should go

    def test_publish_merge_and_compare_two_nodes(self):
        a, b = self.node("a"), self.node("b")
        published = self.publish_sample("a")
        self.assertEqual(published["statements"], 400)
        merged = self.json("merge", a.address, QUERY, "--data", b.data)[-1]
        self.assertEqual((merged["listed"], merged["statements"], merged["objects"]), (400, 400, 400))
        status_a, status_b = (self.json("status", "--data", node.data)[0] for node in (a, b))
        for what in ("statements", "objects", "statement_set", "object_set"):
            self.assertEqual(status_a[what], status_b[what])
        self.assertNotEqual(status_a["publisher"], status_b["publisher"])
        self.assertEqual(self.json("merge", a.address, QUERY, "--data", b.data)[-1]["statements"], 0)
        self.assertTrue(self.json("check", "--data", b.data)[0]["whole"])
        for node in (a, b):
            code, _, err = node.stop()
            self.assertEqual((code, err), (0, ""))

    def test_the_same_works_without_a_running_node(self):
        self.assertEqual(self.publish_sample("a")["statements"], 400)
        self.assertEqual(self.publish_sample("a")["said_before"], 400)
        rows = self.json("query", QUERY + " LIMIT 3", "--data", self.data("a"))
        self.assertEqual(len(rows), 3)
        self.assertEqual(rows[0]["tags"], [self.first_stanza()["Section"]])

    def first_stanza(self):
        text = pathlib.Path(SAMPLE).read_text().split("\n\n")[0]
        return dict(line.split(": ", 1) for line in text.splitlines() if ": " in line and line[0] != " ")

    def test_an_object_comes_back_octet_for_octet(self):
        self.publish_sample("a")
        first = self.first_stanza()
        ref = f"deb:{first['Package']}/{first['Version']}/{first['Architecture']}"
        rows = self.json("query", f"SELECT * FROM * WHERE ref = '{ref}'", "--data", self.data("a"))
        self.assertEqual(len(rows), 1)
        got = self.weir("get", rows[0]["object"], "--data", self.data("a")).stdout
        self.assertEqual(got.rstrip("\n"), pathlib.Path(SAMPLE).read_text().split("\n\n")[0])

    def test_json_lines_from_standard_input(self):
        lines = '{"id": 7, "title": "a picture", "kind": "drawing"}\n{"id": "x", "kind": ["print", "map"]}\n'
        done = self.json("publish", "images.test", "-", "--ref", "id", "--prefix", "museum:", "--tags", "kind",
                         "--data", self.data("a"), stdin=lines)[-1]
        self.assertEqual(done["statements"], 2)
        rows = self.json("query", "SELECT * FROM images.test", "--data", self.data("a"))
        self.assertEqual([row["refs"] for row in rows], [["museum:7"], ["museum:x"]])
        self.assertEqual([row["tags"] for row in rows], [["drawing"], ["print", "map"]])

    def test_a_peer_can_be_queried_from_afar(self):
        a = self.node("a")
        self.publish_sample("a")
        rows = self.json("query", QUERY, "--peer", a.address)
        self.assertEqual(len(rows), 400)
        block = self.weir("get", rows[0]["object"], "--peer", a.address).stdout
        self.assertTrue(block.startswith("Package: "))
        self.assertEqual(self.weir("id", "--peer", a.address).stdout, self.weir("id", "--data", a.data).stdout)

    def test_ids_are_printed_once_they_are_stored(self):
        ids = self.weir("publish", "debian.packages", SAMPLE, "--ids", "--data", self.data("a")).stdout.split("\n")
        ids = {line for line in ids if line.startswith("bafy")}
        rows = self.json("query", QUERY, "--data", self.data("a"))
        self.assertEqual(ids, {row["id"] for row in rows})

    # --- what bad input gets

    def test_a_malformed_stanza_is_named_with_file_and_line_and_what_came_before_is_kept(self):
        path = self.write("bad.Packages", "Package: one\nVersion: 1\nArchitecture: all\n\nPackage: two\nno colon here\n")
        failed = self.weir("publish", "debian.packages", path, "--data", self.data("a"), status=MALFORMED)
        self.assertIn(f"{path}:6", failed.stderr)
        self.assertEqual(len(self.json("query", QUERY, "--data", self.data("a"))), 1)

    def test_a_malformed_json_line_is_named_with_file_and_line(self):
        path = self.write("bad.jsonl", '{"id": 1}\n{"id": \n')
        failed = self.weir("publish", "images.test", path, "--data", self.data("a"), status=MALFORMED)
        self.assertIn(f"{path}:2", failed.stderr)

    def test_a_missing_file_is_named(self):
        failed = self.weir("publish", "images.test", self.work / "nowhere", "--data", self.data("a"), status=NOT_FOUND)
        self.assertIn("nowhere", failed.stderr)

    def test_a_bad_namespace_is_refused(self):
        failed = self.weir("publish", "images..test", SAMPLE, "--data", self.data("a"), status=INVALID)
        self.assertIn("images..test", failed.stderr)

    def test_a_bad_query_is_shown_with_a_caret_under_the_fault(self):
        bad = "SELECT * FROM debian.* WHERE colour = 'red'"
        failed = self.weir("query", bad, "--data", self.data("a"), status=INVALID)
        lines = failed.stderr.splitlines()
        at = next(i for i, line in enumerate(lines) if bad in line)
        self.assertEqual(lines[at + 1].index("^"), lines[at].index("colour"))

    def test_a_directory_that_is_not_there_is_not_made_by_looking(self):
        failed = self.weir("status", "--data", self.work / "nowhere", status=NOT_FOUND)
        self.assertIn("nowhere", failed.stderr)
        self.assertFalse((self.work / "nowhere").exists())

    def test_a_second_node_on_a_directory_is_told_who_holds_it(self):
        a = self.node("a")
        failed = self.weir("node", "run", "--data", a.data, "--listen", "127.0.0.1:0", status=LOCKED)
        self.assertIn(str(a.process.pid), failed.stderr)

    def test_a_taken_port_is_named(self):
        a = self.node("a")
        failed = self.weir("node", "run", "--data", self.data("b"), "--listen", a.address, status=IN_USE)
        self.assertIn(a.address, failed.stderr)

    def test_a_directory_with_no_room_for_a_socket_is_named(self):
        deep = self.data("d" * 120)
        failed = self.weir("node", "run", "--data", deep, "--listen", "127.0.0.1:0", status=INVALID)
        self.assertIn(str(deep), failed.stderr)
        self.assertEqual(self.json("publish", "debian.packages", SAMPLE, "--data", deep)[-1]["statements"], 400)

    def test_a_closed_output_does_not_end_in_a_file(self):
        self.publish_sample("a")
        query = f"{WEIR} query '{QUERY}' --data {self.data('a')}"
        closed = subprocess.run(["sh", "-c", query + " >&-"], stderr=subprocess.PIPE, text=True, timeout=30)
        self.assertEqual(closed.returncode, 26)
        self.assertIn("standard output", closed.stderr)
        self.assertLess((self.data("a") / "lock").stat().st_size, 32)

    def test_an_address_that_others_reach_is_refused(self):
        failed = self.weir("node", "run", "--data", self.data("a"), "--listen", "0.0.0.0:0", status=UNSUPPORTED)
        self.assertIn("0.0.0.0", failed.stderr)

    def test_a_peer_that_is_not_there_is_named(self):
        failed = self.weir("merge", "127.0.0.1:1", QUERY, "--data", self.data("a"), status=UNREACHABLE)
        self.assertIn("127.0.0.1:1", failed.stderr)

    def test_a_wrong_command_line_has_the_status_of_its_own(self):
        self.weir("publish", status=2)
        self.weir("no-such-command", status=2)
        self.weir("merge", "127.0.0.1:1", QUERY, "--lanes", "0", status=2)

    def test_errors_are_json_for_programs(self):
        told = self.json("merge", "127.0.0.1:1", QUERY, "--data", self.data("a"), status=UNREACHABLE)
        self.assertEqual(told[-1]["error"]["code"], "unreachable")

    def test_strangers_on_the_port_are_told_off_and_hinder_nobody(self):
        a = self.node("a")
        self.publish_sample("a")
        with a.connect() as http:
            http.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            answer = b""
            while chunk := http.recv(4096):
                answer += chunk
        self.assertTrue(answer.startswith(b"HTTP/1.1 400"), answer)
        self.assertIn(b"RSocket", answer)
        with a.connect() as noise:
            noise.sendall(bytes(range(256)) * 16)
            try:
                while noise.recv(4096):
                    pass
            except ConnectionResetError:
                pass
        merged = self.json("merge", a.address, QUERY, "--data", self.data("b"))[-1]
        self.assertEqual(merged["statements"], 400)
        code, _, log = a.stop()
        self.assertEqual(code, 0)
        self.assertEqual(len(log.strip().splitlines()), 2, log)

    def test_what_looks_like_a_mistake_is_told_as_one(self):
        self.publish_sample("a")
        here = ("--data", self.data("a"))
        self.assertIn("no command 'frobnicate'", self.weir("frobnicate", status=2).stderr)
        self.assertIn("quotes", self.weir("query", "SELECT", "x", "FROM", "y", *here, status=2).stderr)
        self.assertIn("jsonl", self.weir("publish", "a", SAMPLE, "--format", "xml", *here, status=2).stderr)
        self.assertIn("';'", self.weir("query", QUERY + ";", *here, status=INVALID).stderr)
        array = self.write("array.json", "[1, 2]\n")
        self.assertIn(f"{array}:1: this begins a JSON array", self.weir("publish", "a", array, *here, status=MALFORMED).stderr)
        self.assertIn("not a directory", self.weir("status", "--data", array, status=INVALID).stderr)
        (self.work / "empty").mkdir()
        self.weir("status", "--data", self.work / "empty", status=NOT_FOUND)
        self.assertEqual(list((self.work / "empty").iterdir()), [])

    def test_without_a_data_directory_it_asks_for_one(self):
        left = {name: value for name, value in os.environ.items() if name not in ("HOME", "WEIR_DATA")}
        failed = subprocess.run([WEIR, "status"], env=left, capture_output=True, text=True, timeout=30)
        self.assertEqual(failed.returncode, INVALID)
        self.assertIn("--data", failed.stderr)

    def test_an_output_that_cannot_be_written_is_told_and_one_that_nobody_reads_is_not(self):
        self.publish_sample("a")
        command = [WEIR, "query", QUERY, "--data", str(self.data("a"))]
        with open("/dev/full", "w") as full:
            failed = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=30)
        self.assertEqual(failed.returncode, DISK_FULL)
        self.assertIn("standard output", failed.stderr)
        reading, writing = os.pipe()
        os.close(reading)
        try:
            unread = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, timeout=30)
        finally:
            os.close(writing)
        self.assertEqual((unread.returncode, unread.stderr), (UNREAD, ""))

    # --- endings

    def test_a_node_that_is_killed_leaves_nothing_that_hinders_the_next(self):
        a = self.node("a")
        self.publish_sample("a")
        a.process.kill()
        a.process.wait()
        self.assertTrue((a.data / "control.sock").exists())
        self.assertEqual(self.json("status", "--data", a.data)[0]["statements"], 400)
        self.node("a")
        self.assertEqual(self.json("status", "--data", a.data)[0]["statements"], 400)

    def test_an_interrupt_ends_a_publish_as_cancelled_and_keeps_what_was_told(self):
        # From a pipe that stays open, so that it cannot end by itself.
        process = subprocess.Popen([WEIR, "publish", "images.test", "-", "--json", "--data", str(self.data("a"))],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        process.stdin.write('{"id": 1}\n')
        process.stdin.flush()
        # Its key is made when it is at work; before that the signal would end it before it could say anything.
        deadline = time.monotonic() + 30
        while not (self.work / "a" / "key").exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        process.stdin.close()
        out, err = process.stdout.read(), process.stderr.read()
        process.wait(timeout=30)
        process.stdout.close()
        process.stderr.close()
        self.assertIn(process.returncode, (CANCELLED, 0), err)
        told = json.loads(out.splitlines()[0])["statements"]
        self.assertEqual(len(self.json("query", "SELECT * FROM *", "--data", self.data("a"))), told)


if __name__ == "__main__":
    unittest.main()
