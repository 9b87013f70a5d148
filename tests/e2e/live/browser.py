"""A headless Chromium that tests drive by its debugging protocol, over a pipe."""

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time

PATIENCE = 300

FLAGS = ('--headless=new', '--no-sandbox', '--disable-gpu', '--disable-background-networking',
         '--disable-component-update', '--no-first-run', '--disable-dev-shm-usage',
         '--hide-scrollbars', '--remote-debugging-pipe',
         # Only addresses can be reached: a name that a page asks for is an error.
         '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1')


def find():
    """The path of the browser, or None."""
    return shutil.which('chromium')


class Browser:
    """One tab at a time. Keeps the URLs that it asked for, and what went wrong in it."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix='isotherm-browser-')
        to_read, self.to = os.pipe()
        self.back, to_write = os.pipe()

        def place_pipes():
            # The browser looks for the pipe ends at 3 and 4; duplicates keep both until then.
            read, write = os.dup(to_read), os.dup(to_write)
            os.dup2(read, 3)
            os.dup2(write, 4)
        self.process = subprocess.Popen(
            [find(), *FLAGS, f'--user-data-dir={self.folder}', 'about:blank'], close_fds=False,
            preexec_fn=place_pipes, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, 'HOME': self.folder, 'DBUS_SESSION_BUS_ADDRESS': 'unix:path=/none'})
        os.close(to_read)
        os.close(to_write)
        self.pending, self.number, self.session, self.profile = b'', 0, None, None
        self.renew()

    def renew(self):
        """Another tab instead of the last one, with a cache and a storage of its own."""
        self.session = None
        if self.profile:
            self.call('Target.disposeBrowserContext', browserContextId=self.profile)
        self.requests, self.problems = [], []
        self.profile = self.call('Target.createBrowserContext')['browserContextId']
        target = self.call('Target.createTarget', url='about:blank',
                           browserContextId=self.profile)['targetId']
        self.session = self.call('Target.attachToTarget', targetId=target,
                                 flatten=True)['sessionId']
        for domain in ('Page', 'Runtime', 'Network', 'Log'):
            self.call(f'{domain}.enable')

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.to)
        os.close(self.back)
        shutil.rmtree(self.folder, ignore_errors=True)

    def call(self, method, **parameters):
        self.number += 1
        message = {'id': self.number, 'method': method, 'params': parameters}
        if self.session:
            message['sessionId'] = self.session
        os.write(self.to, json.dumps(message).encode() + b'\0')
        while True:
            answer = self.receive()
            if answer.get('id') == self.number:
                if 'error' in answer:
                    raise RuntimeError(f'{method}: {answer["error"]}')
                return answer['result']
            self.note(answer)

    def receive(self):
        while b'\0' not in self.pending:
            piece = os.read(self.back, 1 << 16)
            if not piece:
                raise RuntimeError('the browser has ended')
            self.pending += piece
        message, _, self.pending = self.pending.partition(b'\0')
        return json.loads(message)

    def note(self, event):
        if event.get('sessionId') != self.session:
            return  # of a tab that is gone
        method, told = event.get('method'), event.get('params', {})
        if method == 'Network.requestWillBeSent':
            self.requests.append(told['request']['url'])
        elif method == 'Runtime.exceptionThrown':
            self.problems.append(told['exceptionDetails'])
        elif method == 'Runtime.consoleAPICalled' and told['type'] in ('error', 'warning'):
            self.problems.append(told['args'])
        elif method == 'Log.entryAdded' and told['entry']['level'] == 'error':
            self.problems.append(told['entry'])

    def show(self, url, width=1300, height=1000, scheme='light'):
        self.call('Emulation.setDeviceMetricsOverride', width=width, height=height,
                  deviceScaleFactor=1, mobile=False)
        self.call('Emulation.setEmulatedMedia',
                  features=[{'name': 'prefers-color-scheme', 'value': scheme}])
        self.call('Page.navigate', url=url)

    def value(self, expression):
        """Returns the value of an expression of JavaScript, promises awaited."""
        answer = self.call('Runtime.evaluate', expression=expression, returnByValue=True,
                           awaitPromise=True)
        if 'exceptionDetails' in answer:
            raise RuntimeError(f'{expression}: {answer["exceptionDetails"]}')
        return answer['result'].get('value')

    def wait_for(self, expression):
        """Its value as soon as that is true. The elements that it names need not be there yet."""
        deadline = time.monotonic() + PATIENCE
        while True:
            failure = 'never true'
            try:
                if found := self.value(expression):
                    return found
            except RuntimeError as missing:
                failure = missing
            if time.monotonic() > deadline:
                raise RuntimeError(f'{failure}: {expression}')
            self.value('new Promise((done) => setTimeout(done, 50))')

    def press(self, key, text=''):
        codes = {'Enter': 13, 'Home': 36, 'Backspace': 8, 'ArrowRight': 39, 'ArrowDown': 40}
        shared = {'key': key, 'windowsVirtualKeyCode': codes.get(key, 0)}
        if text:
            shared['text'] = text
        self.call('Input.dispatchKeyEvent', type='keyDown', **shared)
        self.call('Input.dispatchKeyEvent', type='keyUp', **shared)

    def wheel(self, x, y, by):
        self.call('Input.dispatchMouseEvent', type='mouseWheel', x=x, y=y, deltaX=0, deltaY=by)

    def picture(self):
        """The whole page as a PNG."""
        size = self.call('Page.getLayoutMetrics')['cssContentSize']
        shot = self.call('Page.captureScreenshot', captureBeyondViewport=True,
                         clip={'x': 0, 'y': 0, 'width': size['width'], 'height': size['height'],
                               'scale': 1})
        return base64.b64decode(shot['data'])
