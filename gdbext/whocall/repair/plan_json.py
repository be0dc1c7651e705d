"""Plans for a debugger in another process: schema whocall.repair-plan/1, and what it was told
before, which it says the same way.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from whocall.base.errors import Error
from whocall.repair.arguments import Arguments
from whocall.repair.chain import Chain, RegisterNames, Step
from whocall.repair.plan import AttachedState, ModuleState, Plan, SymbolDelivery
from whocall.report.form.jsonform import Json, hexes

# Of so many frames of a chain registers are told whether or not a rule leads on from them: frames
# that follow rules need them only where a debugger does not see that.
WITH_REGISTERS = 1024


def _registers(step: Step, level: int) -> Mapping[str, str | None] | None:
    if step.caller is None:
        return None
    if step.ruled and level >= WITH_REGISTERS:
        return {}
    return {name: hexes(value) for name, value in step.caller.items()}


def _step_json(step: Step, level: int) -> Json:
    return {
        "pc": hexes(step.pc),
        "lookup": hexes(step.lookup),
        "sp": hexes(step.sp),
        "cfa": hexes(step.cfa),
        "start": hexes(step.start),
        "caller": _registers(step, level),
        "ruled": step.ruled,
    }


def _state_json(state: ModuleState) -> Json:
    return {
        "begun": state.begun,
        "debug_file": state.debug_file,
        "named": state.named,
        "unnamed": state.unnamed,
        "ruled": [hexes(start) for start in sorted(state.ruled)],
        "asked": [hexes(address) for address in sorted(state.asked)],
        "complete": state.complete,
        "budget": state.budget,
        "ended": [hexes(end) for end in sorted(state.ended)],
    }


def plan_json(plan: Plan) -> Json:
    """The whole plan."""
    return {
        "schema": "whocall.repair-plan/1",
        "registers": plan.registers._asdict(),
        "code": [[hexes(begin), hexes(end)] for begin, end in plan.code],
        "threads": [
            {
                "lwp": chain.lwp,
                "frames": [_step_json(step, level) for level, step in enumerate(chain.steps)],
                "more": chain.more,
                "last": [_step_json(step, WITH_REGISTERS) for step in chain.last],
                "unruled": chain.unruled,
                "is_whole": chain.is_whole,
            }
            for chain in plan.chains
        ],
        "modules": [
            {
                "path": delivery.path,
                "file": delivery.file_path or None,
                "build_id": delivery.build_id or None,
                "bias": hexes(delivery.bias),
                "symbol_files": [str(path) for path in delivery.files],
                "state": _state_json(delivery.state),
            }
            for delivery in plan.deliveries
        ],
        "arguments": None
        if plan.arguments is None
        else {"file": str(plan.arguments.file), "functions": plan.arguments.functions},
    }


def attached_json(attached: Iterable[AttachedState]) -> list[Json]:
    """What a debugger was told before."""
    return [
        {
            "path": each.path,
            "build_id": each.build_id or None,
            "bias": hexes(each.bias),
            "state": _state_json(each.state),
        }
        for each in attached
    ]


def _address(text: str) -> int:
    return int(text, 16)


def _step_from(found: Json) -> Step:
    caller = found["caller"]
    return Step(
        pc=_address(found["pc"]),
        lookup=_address(found["lookup"]),
        sp=_address(found["sp"]),
        cfa=_address(found["cfa"]),
        start=_address(found["start"]),
        caller=None if caller is None else {name: _address(caller[name]) for name in caller},
        ruled=found["ruled"],
    )


def _state_from(found: Json) -> ModuleState:
    sets = {name: set(map(_address, found[name])) for name in ("ruled", "asked", "ended")}
    return ModuleState(**{**found, **sets})


def _delivery_from(found: Json) -> SymbolDelivery:
    return SymbolDelivery(
        path=found["path"],
        file_path=found["file"] or "",
        build_id=found["build_id"] or "",
        bias=_address(found["bias"]),
        files=[Path(name) for name in found["symbol_files"]],
        state=_state_from(found["state"]),
    )


def plan_from(found: Json) -> Plan:
    """The plan that was printed by a whocall of the same version."""
    chains = [
        Chain(
            thread["lwp"],
            [_step_from(step) for step in thread["frames"]],
            more=thread["more"],
            last=tuple(_step_from(step) for step in thread["last"]),
            unruled=thread["unruled"],
            is_whole=thread["is_whole"],
        )
        for thread in found["threads"]
    ]
    names = RegisterNames(**found["registers"])
    deliveries = [_delivery_from(module) for module in found["modules"]]
    code = [(_address(begin), _address(end)) for begin, end in found["code"]]
    told = found["arguments"]
    arguments = None if told is None else Arguments(Path(told["file"]), told["functions"])
    return Plan(names, chains, deliveries, code, arguments)


def attached_from(found: Any, source: str) -> list[AttachedState]:
    """Reads attached_json(); raises Error, naming the `source`, when it is none."""
    try:
        return [
            AttachedState(
                path=each["path"],
                build_id=each["build_id"] or "",
                bias=None if each["bias"] is None else _address(each["bias"]),
                state=_state_from(each["state"]),
            )
            for each in found
        ]
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise Error(f"{source}: this is not what a gdb was told as whocall writes it") from error
