"""The time that the machine's processors are busy."""
import os


def busy_seconds():
    """Returns the busy time of all processors together since the system started; waits for devices
    do not count as busy."""
    with open('/proc/stat', encoding='utf-8') as file:
        user, nice, system, _, _, irq, softirq, *_ = map(int, file.readline().split()[1:])
    return (user + nice + system + irq + softirq) / os.sysconf('SC_CLK_TCK')
