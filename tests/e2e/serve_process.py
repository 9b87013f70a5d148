"""Servers and raw connections for the end-to-end tests of isotherm serve."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading

# Seconds, for what must happen: so many that no busy machine needs them, and fewer than ctest gives
# a test (CMakeLists.txt), so that one which waits in vain cleans up after itself.
PATIENCE = 600


class Process:
    """A server on a Unix socket in a directory of its own; ready once it says so."""

    def __init__(self, command, ready, **more):
        self.directory = tempfile.mkdtemp(prefix='isotherm-e2e-')
        os.chmod(self.directory, 0o777)
        self.path = os.path.join(self.directory, 's')
        self.process = subprocess.Popen(command(self.path), stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True, cwd=self.directory,
                                        **more)
        self.said = []
        for line in self.process.stdout:
            self.said.append(line)
            if ready in line:
                break
        else:
            self.stop()
            raise RuntimeError('did not start: ' + ''.join(self.said))
        # A server that logs must never wait for its reader.
        self.reader = threading.Thread(target=self.said.extend, args=(self.process.stdout,))
        self.reader.start()

    def stop(self, how=signal.SIGTERM):
        """Exit status, everything said, and whether the socket file stayed behind."""
        if self.process.poll() is None:
            self.process.send_signal(how)
        self.process.wait(timeout=PATIENCE)
        if hasattr(self, 'reader'):
            self.reader.join(timeout=PATIENCE)
        self.process.stdout.close()
        leftover = os.path.exists(self.path)
        shutil.rmtree(self.directory, ignore_errors=True)
        return self.process.returncode, ''.join(self.said), leftover

    def port(self):
        return next(int(line.split()[-1]) for line in self.said if ' port ' in line)


def start_ours(tool, index, *flags, **more):
    """`flags` go before the defaults that the tests share."""
    def command(path):
        words = [tool, 'serve', '--index', index, *flags]
        for name, value in (('--unixsocket', path), ('--port', '0'), ('--window', '0.2')):
            if name not in flags:
                words += [name, value]
        return words
    return Process(command, 'Ready to accept connections', **more)


def start_redis(*flags):
    return Process(lambda path: ['redis-server', '--unixsocket', path, '--port', '0', '--save', '',
                                 '--databases', '1', *flags], 'ready to accept connections')


def start_memcached(*flags):
    # It says that it listens only where it says all that it does.
    return Process(lambda path: ['memcached', '-u', 'root', '-vv', '-s', path, *flags],
                   'server listening')


class Raw:
    """A socket and one reply after the other, unparsed."""

    def __init__(self, where):
        """`where`: a Unix path, or (host, port)."""
        self.socket = socket.socket(socket.AF_UNIX if isinstance(where, str) else socket.AF_INET)
        self.socket.settimeout(PATIENCE)
        self.socket.connect(where)
        self.file = self.socket.makefile('rb')

    def ask(self, *words):
        self.send(*words)
        return self.reply()

    def send(self, *words):
        words = [w if isinstance(w, bytes) else str(w).encode('latin-1') for w in words]
        self.socket.sendall(b'*%d\r\n' % len(words) +
                            b''.join(b'$%d\r\n%s\r\n' % (len(w), w) for w in words))

    def reply(self):
        line = self.file.readline()
        kind, text = line[:1], line[1:-2]
        if kind in b'$=' and text not in (b'-1', b''):
            line += self.file.read(int(text) + 2)
        elif kind in b'*~%' and text not in (b'-1', b''):
            for _ in range(int(text) * (2 if kind == b'%' else 1)):
                line += self.reply()
        return line

    def is_closed(self):
        """Waits for the server to close the connection; False when it sends something instead."""
        try:
            return self.file.readline() == b''
        except ConnectionResetError:
            return True

    def close(self):
        self.file.close()
        self.socket.close()


def open_files(process):
    """The paths of a server's open files, by descriptor. One that is closed meanwhile is left out,
    as those of /proc are that the server reads now and then."""
    folder = f'/proc/{process.process.pid}/fd'
    found = {}
    for name in os.listdir(folder):
        with contextlib.suppress(FileNotFoundError):  # closed since it was listed
            found[name] = os.readlink(os.path.join(folder, name))
    return found


def info(connection, section):
    """The fields of a section of INFO."""
    text = connection.ask('INFO', section).decode()
    return dict(line.split(':', 1) for line in text.splitlines() if ':' in line)
