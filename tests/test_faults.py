"""A failure at every step: whichever call fails, nothing is lost or half there, and the same command finishes."""

import pytest
from fault_checks import calls_to_disturb, disturb, one_of_each_place
from fault_commands import COMMANDS, OF_FILES, VERSION_HINT, make_inputs
from faults import (
    KINDS,
    Call,
    Fault,
    Faults,
    lost_with_the_power,
    missing,
    named_too_early,
    running,
)

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing())


def each_command(names):
    """Names of commands as parameters of a test; the tests of one command share a process and what is known of it."""
    return [pytest.param(name, marks=pytest.mark.xdist_group(f"faults {name}")) for name in names]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("faults")


@pytest.fixture(scope="module")
def runner(folder):
    with running(Faults(folder), folder) as runner:
        yield runner


@pytest.fixture(scope="module")
def inputs(runner, folder):
    made = folder / "inputs"
    made.mkdir()
    make_inputs(runner, made)
    return made


@pytest.fixture(scope="module")
def undisturbed(runner, inputs, folder):
    """A function: what a command makes, and by which calls."""
    known = {}

    def of(command):
        if command.name not in known:
            work = folder / f"undisturbed {command.name}"
            work.mkdir()
            command.before(work, inputs)
            run = runner.run(command.words(inputs, work), work)
            assert run.code == 0, run.err
            assert command.left_overs(work) == []
            known[command.name] = command.parts(work), run.calls
        return known[command.name]

    return of


@pytest.fixture(scope="module")
def finished():
    """For each command, the states after a fault from which it has finished."""
    return {name: set() for name in COMMANDS}


@pytest.mark.parametrize("name", each_command(COMMANDS))
def test_a_command_that_is_killed_at_any_step_loses_nothing(
    runner, inputs, undisturbed, finished, folder, name
):
    command, work = COMMANDS[name], folder / "work"
    whole, calls = undisturbed(command)
    wrong = []
    for number in calls_to_disturb(calls, "kill"):
        fault = Fault("kill", number)
        wrong += disturb(runner, command, inputs, work, fault, whole, finished[name])
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "kill"])
@pytest.mark.parametrize("name", each_command(COMMANDS))
def test_a_disk_that_fails_at_any_step_costs_nothing_that_was_done(
    runner, inputs, undisturbed, finished, folder, name, kind
):
    command, work = COMMANDS[name], folder / "work"
    whole, calls = undisturbed(command)
    wrong = []
    for number in one_of_each_place(calls, calls_to_disturb(calls, kind)):
        fault = Fault(kind, number)
        wrong += disturb(runner, command, inputs, work, fault, whole, finished[name])
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", each_command(COMMANDS))
def test_what_a_command_has_made_outlives_a_power_cut(undisturbed, name):
    _, calls = undisturbed(COMMANDS[name])
    lost = lost_with_the_power(calls)
    assert [path for path in lost if not path.endswith(VERSION_HINT)] == []


@pytest.mark.parametrize("name", each_command(command.name for command in OF_FILES))
def test_a_file_is_on_the_disk_before_it_gets_its_name(undisturbed, name):
    _, calls = undisturbed(COMMANDS[name])
    assert named_too_early(calls) == []


def test_what_was_not_synced_is_told():
    calls = [
        Call("open", ".a.tmp"),
        Call("write", ".a.tmp"),
        Call("rename", "a", ".a.tmp"),
        Call("sync", "a"),
        Call("sync", "."),
    ]
    assert lost_with_the_power(calls) == []
    assert lost_with_the_power(calls[:4]) == lost_with_the_power(calls[:3]) == ["a"]
    assert lost_with_the_power([*calls[:3], calls[4]]) == ["a"]
    assert named_too_early(calls) == ["a"]
    assert named_too_early([*calls[:2], Call("sync", ".a.tmp"), *calls[2:]]) == []
