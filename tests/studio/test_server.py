"""A studio as a person's browser meets it: a process, its address, requests over the network of this machine."""

from __future__ import annotations

import http.client
import json
import re
import struct
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

from studio_pages import LONG

pytest.importorskip("uvicorn", reason="the studio is an extra")
websockets = pytest.importorskip("websockets.sync.client", reason="the studio is an extra")

LINE = """
format = 1
name = "line"
robot = "zlajpah-5r"
duration = 0.5
step = 1e-3
q0 = [0.5, 0.4, 0.3, 0.2, 0.1]

[controller]
law = "pd_gravity"
kp = 100.0
kv = 20.0
goal = [0, 0, 0, 0, 0]
"""
DOCUMENT = tomllib.loads(LINE)


class Studio:
    def __init__(self):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "manipula", "studio", "--no-browser"], stdout=subprocess.PIPE, text=True
        )
        self.address = self.process.stdout.readline().strip()
        port, self.token = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/\?token=([\w-]{20,})", self.address).groups()
        self.port = int(port)
        _status, headers, _ = self.ask("GET", f"/?token={self.token}", key=False)
        self.cookie = headers["set-cookie"].partition(";")[0]

    def ask(self, method, path, body=None, key=True, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        sent = {"Origin": f"http://127.0.0.1:{self.port}"} | ({"Cookie": self.cookie} if key else {})
        connection.request(method, path, body, sent | {k.replace("_", "-"): v for k, v in headers.items()})
        answer = connection.getresponse()
        found = answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read()
        connection.close()
        return found

    def verb(self, name, /, **arguments):
        status, _, body = self.ask("POST", f"/api/{name}", json.dumps(arguments), Content_Type="application/json")
        return status, json.loads(body)

    def watch(self):
        origin = f"http://127.0.0.1:{self.port}"
        return websockets.connect(
            f"ws://127.0.0.1:{self.port}/watch", origin=origin, additional_headers={"Cookie": self.cookie}, proxy=None
        )


@pytest.fixture(scope="module")
def studio():
    found = Studio()
    yield found
    found.process.terminate()
    found.process.wait(30)
    found.process.stdout.close()


def unpacked(body):
    length = struct.unpack("<I", body[:4])[0]
    header = json.loads(body[4 : 4 + length])
    start = 4 + length
    assert start % 8 == 0
    return header, {
        a["name"]: np.frombuffer(body, a["type"], int(np.prod(a["shape"])), start + a["at"]).reshape(a["shape"])
        for a in header["arrays"]
    }


def test_only_the_loopback_address_listens(studio):
    table = Path("/proc/net/tcp")
    if not table.exists():
        pytest.skip("this system does not list its sockets")
    rows = [line.split() for line in table.read_text().splitlines()[1:]]
    listening = [row[1] for row in rows if row[3] == "0A" and row[1].endswith(f":{studio.port:04X}")]
    assert listening == [f"0100007F:{studio.port:04X}"]


def test_without_the_key_there_is_nothing(studio):
    for path in ("/", "/static/studio.js", "/runs/0/signals", "/?token=wrong", "/static/../../pyproject.toml"):
        assert studio.ask("GET", path, key=False)[0] == 403
    assert studio.ask("POST", "/api/hello", "{}", key=False)[0] == 403
    with pytest.raises(Exception, match=r"403|1008|rejected"):
        websockets.connect(
            f"ws://127.0.0.1:{studio.port}/watch", origin=f"http://127.0.0.1:{studio.port}", proxy=None
        ).recv()


@pytest.mark.parametrize(
    "path",
    ["/static/../guard.py", "/static/..%2fguard.py", "/static/%2e%2e/guard.py", "/static//etc/passwd", "/static/", "/static/.", "/nowhere",
     "/runs/../api/hello", "/static/a\\..\\b", "/static/%00"],
)  # fmt: skip
def test_nothing_outside_the_page_is_served(studio, path):
    status, _, body = studio.ask("GET", path)
    assert status in (404, 405, 422)
    assert b"root:" not in body
    assert b"import" not in body


def test_a_run_gives_the_numbers_that_python_gives(studio, tmp_path):
    import manipula as mp

    status, summary = studio.verb("run", document=DOCUMENT)
    while summary["state"] not in ("done", "failed"):
        status, summary = studio.verb("status", run=summary["id"])
    assert status == 200
    assert summary["status"] == "finished", summary
    header, arrays = unpacked(studio.ask("GET", f"/runs/{summary['id']}/signals?names=q,tau")[2])
    path = tmp_path / "line.toml"
    path.write_text(LINE)
    result = mp.run_file(path)
    assert np.array_equal(arrays["t"], result.t)
    assert np.array_equal(arrays["q"], result.q.astype(np.float32))
    assert [line["unit"] for line in header["lines"]["tau"]] == ["N·m"] * 5
    assert studio.verb("document", run=summary["id"])[1]["document"] == DOCUMENT
    text = studio.ask("GET", f"/runs/{summary['id']}/scenario.toml")[2].decode()
    assert tomllib.loads(text) == DOCUMENT
    loaded = tmp_path / "result.npz"
    loaded.write_bytes(studio.ask("GET", f"/runs/{summary['id']}/result.npz")[2])
    assert np.array_equal(mp.load_result(loaded).q, result.q)


def test_a_run_is_watched_while_it_goes_and_stopped(studio):
    _, summary = studio.verb("run", document=LONG)
    with studio.watch() as socket:
        socket.send(json.dumps({"run": summary["id"]}))
        seen, states = 0, []
        while seen < 20:
            message = socket.recv(60)
            if isinstance(message, bytes):
                header, arrays = unpacked(message)
                assert header["first"] == seen
                assert np.isfinite(arrays["q"]).all()
                assert np.allclose(arrays["t"], 0.1 * np.arange(seen, seen + len(arrays["t"])))
                seen += len(arrays["t"])
            else:
                states.append(json.loads(message)["state"])
        assert studio.verb("stop", run=summary["id"])[1]["state"] == "stopped"
        while True:
            message = socket.recv(60)
            if not isinstance(message, bytes) and "summary" in message:
                break
        assert json.loads(message)["state"] == "stopped"
    assert "integrating" in states


def test_errors_name_the_field(studio):
    status, answer = studio.verb("check", document={**DOCUMENT, "controller": {"law": "pd_gravty", "kp": 1, "kv": 1}})
    assert status == 200
    assert not answer["ok"]
    assert answer["error"]["field"] == "controller.law"
    assert "pd_gravity" in answer["error"]["message"]
    _, answer = studio.verb("run", document={**DOCUMENT, "duration": -1})
    assert answer["error"]["field"] == "duration"


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b"nul", b'{"a": NaN}', b'{"a": 1, "a": 2}', b"\xff\xfe", b"[" * 100_000,
     b'{"document": null}', b'{"document": {"robot": null}}', b'{"document": {"robot": "../../etc/passwd"}}',
     b'{"document": {"robot": "/etc/passwd.urdf"}}', b'{"document": {"robot": {"load": "x.urdf"}}}', b'{"nothing": 1}',
     b'{"document": 5}', b'{"document": {"robot": "panda", "duration": 1e9, "step": 1e-9}}',
     b'{"document": {"robot": "panda", "duration": {"$number": "nan"}}}',
     b'{"document": {"a": ' + b'{"a": ' * 60 + b"1" + b"}" * 60 + b"}}"],
)  # fmt: skip
def test_hostile_requests_are_refused_with_a_sentence(studio, body):
    found, _, answer = studio.ask("POST", "/api/run", body, Content_Type="application/json")
    assert found in (200, 422)
    message = json.loads(answer)["error"]["message"]
    assert message
    assert "root:" not in message
    assert "Traceback" not in message


def test_other_types_of_content_and_verbs_are_refused(studio):
    assert studio.ask("POST", "/api/run", "{}", Content_Type="text/plain")[0] == 422
    assert studio.verb("shutdown")[0] == 404
    assert studio.verb("__class__")[0] == 404
    assert studio.ask("GET", "/api/hello")[0] == 405


def test_files_that_are_dropped_become_documents(studio):
    urdf = """<robot name="a&lt;b"><link name="base"/><link name="arm"><inertial><mass value="2"/><origin xyz="0.1 0 0"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
    <joint name="j" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" velocity="1" effort="9"/></joint></robot>"""
    status, answer = studio.verb("open", name="C:\\arms\\my arm.urdf", text=urdf)
    assert status == 200
    assert answer["document"]["name"] == "my arm"
    status, seen = studio.verb("robot", document=answer["document"])
    assert status == 200
    assert seen["robot"]["joints"][0]["upper"] == 1.0
    assert seen["robot"]["name"] == "a<b"
    status, answer = studio.verb("open", name="arm.toml", text=LINE)
    assert status == 200
    assert answer["document"] == DOCUMENT
    for name, text in (
        ("arm.exe", ""),
        ("../../arm", ""),
        ("arm.urdf", "<!DOCTYPE x [<!ENTITY a SYSTEM 'file:///etc/passwd'>]><robot/>"),
        ("arm.toml", "a = ["),
        ("arm.xml", 5),
    ):
        status, answer = studio.verb("open", name=name, text=text)
        assert status == 200
        assert "root:" not in answer["error"]["message"]
        assert "/tmp" not in answer["error"]["message"]


def test_the_robot_as_a_table_is_the_same_robot(studio):
    import manipula as mp

    _, answer = studio.verb("as_dh", document=studio.verb("new", robot="panda")[1]["document"], convention="modified")
    _, seen = studio.verb("robot", document=answer["document"])
    model, q = mp.compile(mp.load("panda")), np.linspace(-0.5, 0.5, 7)
    assert np.allclose(page_pose(seen["robot"], q), model.pose(q), atol=1e-12)
    _, seen = studio.verb("robot", document={"robot": "panda"})
    assert np.allclose(page_pose(seen["robot"], q), model.pose(q), atol=1e-14)
    assert [row["joint"] for row in seen["robot"]["dh"]["modified"]["rows"]] == ["revolute"] * 7


def page_pose(robot, q):
    """The pose of the tip as the page finds it (``web/src/kinematics.ts``)."""
    matrix = lambda values: np.vstack([np.reshape(values, (3, 4)), [0, 0, 0, 1]])
    drawn = robot["drawn"]["page"]["robots"][0]
    poses = [matrix(drawn["base"])]
    for body, value in zip(drawn["bodies"], q):
        x, y, z = body["axis"]
        K, moved = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]]), np.eye(4)
        moved[:3, :3] = np.eye(3) + np.sin(value) * K + (1 - np.cos(value)) * K @ K
        poses.append(poses[body["parent"] + 1] @ matrix(body["placement"]) @ moved @ matrix(body["frame"]))
    return poses[drawn["tip"]["body"] + 1] @ matrix(drawn["tip"]["pose"])


def test_a_dragged_tip_and_a_path(studio):
    import manipula as mp

    model = mp.compile(mp.load("ur5e"))
    pose = model.pose(np.array([0.3, -1.0, 1.2, -0.4, 0.8, 0.1]))
    status, answer = studio.verb("ik", document={"robot": "ur5e"}, target=pose.tolist(), every=True)
    assert status == 200
    assert answer["ok"]
    assert len(answer["postures"]) > 1
    for q in answer["postures"]:
        assert np.allclose(model.pose(np.array(q)), pose, atol=1e-6)
    reference = {
        "path": {"kind": "line", "a": [0.3, 0.2, 0.4], "b": [0.3, 0.2, 5.0]},
        "timing": {"kind": "quintic", "duration": 1.0},
    }
    status, answer = studio.verb(
        "path", document={"robot": "ur5e", "duration": 1.0, "kind": "kinematic", "reference": reference}
    )
    assert status == 200, answer
    assert answer["reached"][0]
    assert not answer["reached"][-1]
    assert answer["reason"]


def test_equations_and_code(studio):
    status, answer = studio.verb("equations", document={"robot": "scara-khang"}, only="M")
    assert status == 200
    assert "<math" in answer["text"]
    status, answer = studio.verb("code", document={"robot": "scara-khang"}, language="javascript")
    assert status == 200
    assert any(name.endswith(".mjs") for name in answer["files"])


def test_the_forms_have_every_part(studio):
    from manipula.registries import KINDS

    _, answer = studio.verb("hello")
    assert {name: set(kind["parts"]) for name, kind in answer["parts"].items()} == {
        name: set(k.registry) for name, k in KINDS.items()
    }


def test_a_studio_begins_with_a_file(tmp_path):
    from manipula.errors import DescriptionError
    from manipula.studio.serving import serve
    from manipula.studio.verbs import call

    path = tmp_path / "line.toml"
    path.write_text(LINE)
    from manipula.studio.documents import opened
    from manipula.studio.runs import RunStore

    assert call("hello", RunStore(opened("line.toml", LINE)), {})["first"] == DOCUMENT
    path.write_text(LINE.replace("pd_gravity", "pd_gravty"))
    with pytest.raises(DescriptionError, match="pd_gravity"):
        serve(browser=False, file=path)
    with pytest.raises(DescriptionError, match="does not exist"):
        serve(browser=False, file=tmp_path / "none.toml")


def test_a_run_that_could_not_begin_is_shown_without_the_signals_it_has_not():
    """Without masses no motion can be computed: the run says so, and its page has the charts that there are."""
    import manipula as mp
    from manipula.studio.documents import scenario_from
    from manipula.studio.pages import USUAL, run_page

    rows = [{"a": 0.4}, {"a": 0.3}]
    document = {"format": 1, "name": "bare", "duration": 1.0, "robot": {"name": "bare", "dh": {"convention": "standard", "rows": rows}}}  # fmt: skip
    with np.errstate(all="ignore"):
        result = mp.simulate(scenario_from(document))
    assert result.status == "singular"
    found = run_page([result], [*USUAL, *("manipulability", "phase", "spectrum", "power")])
    assert {c["kind"] for c in found["page"]["charts"]}.isdisjoint(c["kind"] for c in found["left_out"])


def test_kept_runs_are_bounded_and_can_go():
    from manipula.errors import BudgetError
    from manipula.studio.runs import KEPT, RunStore

    store = RunStore()
    document = {"format": 1, "robot": "planar-2r", "duration": 0.001, "verify": False}
    try:
        found = []
        for _ in range(KEPT + 1):
            found.append(store.start(document))
            assert found[-1].over.wait(60)
        for run in found[-KEPT:]:
            store.pin(run.id, True)
        store.pin(found[-1].id, True)  # again is no more
        another = store.start(document)
        assert another.over.wait(60)
        with pytest.raises(BudgetError, match=f"{KEPT} runs are kept"):
            store.pin(another.id, True)
        store.pin(found[-1].id, False)
        store.pin(another.id, True)
    finally:
        store.close()


def test_an_arm_that_graphics_cannot_hold_is_refused():
    from manipula.errors import DescriptionError
    from manipula.studio.runs import RunStore
    from manipula.studio.verbs import call

    rod = {"name": "rod", "planar": {"lengths": [0.4], "masses": [1.0]}}
    for far, said in ((1e14, None), (1e16, "within 1e\\+15 m"), (9e59, "within 1e\\+15 m")):
        document = {"format": 1, "robot": {**rod, "tool": {"xyz": [far, 0, 0]}}, "duration": 0.1}
        if said is None:
            assert call("robot", RunStore(), {"document": document})["robot"]["drawn"] is not None
        else:
            with pytest.raises(DescriptionError, match=said):
                call("robot", RunStore(), {"document": document})
