"""A failure at every step: whichever call fails, nothing is lost or half there, and the same command finishes."""

import pytest
from fault_checks import calls_to_disturb, disturb, one_of_each_place
from fault_commands import COMMANDS, make_inputs
from faults import KINDS, Call, Fault, Faults, lost_with_the_power, missing, running

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing())


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


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_that_is_killed_at_any_step_loses_nothing(
    runner, inputs, undisturbed, folder, name
):
    command = COMMANDS[name]
    whole, calls = undisturbed(command)
    wrong = []
    for number in calls_to_disturb(calls, "kill"):
        wrong += disturb(runner, command, inputs, folder / "work", Fault("kill", number), whole)
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "kill"])
@pytest.mark.parametrize("name", COMMANDS)
def test_a_disk_that_fails_at_any_step_costs_nothing_that_was_done(
    runner, inputs, undisturbed, folder, name, kind
):
    command = COMMANDS[name]
    whole, calls = undisturbed(command)
    wrong = []
    for number in one_of_each_place(calls, calls_to_disturb(calls, kind)):
        wrong += disturb(runner, command, inputs, folder / "work", Fault(kind, number), whole)
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", COMMANDS)
def test_what_a_command_has_made_outlives_a_power_cut(undisturbed, name):
    _, calls = undisturbed(COMMANDS[name])
    assert lost_with_the_power(calls) == []


def test_a_file_that_is_renamed_before_its_sync_may_be_lost_with_the_power():
    calls = [
        Call("open", ".a.1.tmp"),
        Call("write", ".a.1.tmp"),
        Call("rename", "a"),
        Call("sync", ".a.1.tmp"),
        Call("sync", "."),
    ]
    assert lost_with_the_power(calls) == ["a"]
    assert lost_with_the_power([calls[i] for i in (0, 1, 3, 2, 4)]) == []
    assert lost_with_the_power(calls[:4]) == [".a.1.tmp", "a"]
