"""What the machine's processors do."""
import os


def busy_seconds():
    """Of all processors together, since the system started; waits for devices are not busy."""
    with open('/proc/stat', encoding='utf-8') as file:
        user, nice, system, _, _, irq, softirq, *_ = map(int, file.readline().split()[1:])
    return (user + nice + system + irq + softirq) / os.sysconf('SC_CLK_TCK')
