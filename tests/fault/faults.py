"""Every kind of fault, by name, in the order of the report; and what some of them must have met to count."""

from fault import machine_faults as machine
from fault import process_faults as process
from fault import stream_faults as stream
from fault.field import ENDED, FORGOTTEN, REFUSED, STEPPED, Fault

FAULTS: dict[str, Fault] = {
    fault.__name__: fault
    for fault in (
        process.kill_planner,
        process.kill_ingest,
        process.kill_writer,
        process.kill_gateway,
        process.kill_valkey,
        process.kill_all,
        process.crash_database,
        process.terminate_planner,
        process.terminate_writer,
        process.terminate_gateway,
        process.hang_planner,
        process.hang_writer,
        stream.redis_down,
        stream.redis_cut,
        stream.redis_black_hole,
        stream.redis_full,
        stream.flushall,
        stream.fail_over,
        stream.adopt_spool,
        stream.lose_planner,
        stream.remove_spools,
        machine.slow_disk,
        machine.clock_back,
        machine.disk_full_planner,
        machine.disk_full_writer,
        machine.file_limit_planner,
        machine.file_limit_writer,
        machine.file_limit_valkey,
    )
}

EFFECTS = {
    "flushall": FORGOTTEN,
    "fail_over": FORGOTTEN,
    "redis_full": REFUSED,
    "clock_back": STEPPED,
    "file_limit_valkey": ENDED,
}
"""What has to have been met if a fault struck."""


def says(name: str) -> str:
    """What the fault *name* means, in a sentence."""
    return (FAULTS[name].__doc__ or name).splitlines()[0].rstrip(".")
