"""Commands whose replies must be those of a real Redis, in order."""

_BIG = '9223372036854775807'

STRINGS = [
    ('SET', 'k', 'v'), ('GET', 'k'), ('get', 'none'), ('SET', 'k', 'w', 'NX'),
    ('SET', 'k', 'w', 'XX', 'GET'), ('SET', 'new', 'w', 'NX', 'GET'), ('SET', 'k', 'v', 'NX', 'XX'),
    ('SET', 'k', 'v', 'EX', '0'), ('SET', 'k', 'v', 'EX', '-1'), ('SET', 'k', 'v', 'PX', 'x'),
    ('SET', 'k', 'v', 'EX', _BIG), ('SET', 'k', 'v', 'PX', _BIG), ('SET', 'k', 'v', 'EX'),
    ('SET', 'k', 'v', 'EX', '1', 'PX', '1'), ('SET', 'k', 'v', 'KEEPTTL', 'EX', '1'),
    ('SET', 'k'), ('SET', 'k', 'v', 'EXAT', '1'), ('GET', 'k'), ('SETNX', 'k', '1'),
    ('SETNX', 'k', '2'), ('SETEX', 'k', '100', 'v'), ('TTL', 'k'), ('SETEX', 'k', '0', 'v'),
    ('PSETEX', 'k', '-5', 'v'), ('PSETEX', 'k', 'a', 'v'), ('GETSET', 'k', 'z'), ('TTL', 'k'),
    ('GETDEL', 'k'), ('GETDEL', 'k'), ('SET', 'k', 'a'), ('GETEX', 'k', 'EX', '100'), ('TTL', 'k'),
    ('GETEX', 'k', 'PERSIST'), ('TTL', 'k'), ('GETEX', 'k', 'PERSIST', 'EX', '1'),
    ('GETEX', 'k', 'EX', '0'), ('GETEX', 'k', 'NX'), ('GETEX', 'none', 'EX', '0'),
    ('MSET', 'a', '1', 'b', '2'), ('MSET', 'a'), ('MSET', 'a', '1', 'b'), ('MGET', 'a', 'x', 'b'),
    ('MSETNX', 'a', '1', 'c', '2'), ('MSETNX', 'c', '1', 'd', '2'), ('MSETNX', 'c', '1', 'd'),
    ('SET', '', ''), ('GET', ''), ('DEL', ''), ('SET', b'\x00\r\n', b'\xff\x00'),
    ('GET', b'\x00\r\n'), ('DEL', b'\x00\r\n'),
]

PARTS = [
    ('APPEND', 'p', '12'), ('OBJECT', 'ENCODING', 'p'), ('APPEND', 'p', '34'),
    ('OBJECT', 'ENCODING', 'p'), ('INCR', 'p'), ('OBJECT', 'ENCODING', 'p'), ('STRLEN', 'p'),
    ('STRLEN', 'none'), ('SET', 'p', 'Hello World'), ('GETRANGE', 'p', '0', '-1'),
    ('GETRANGE', 'p', '-5', '-2'), ('GETRANGE', 'p', '5', '2'), ('GETRANGE', 'p', '-2', '-5'),
    ('GETRANGE', 'p', '100', '200'), ('GETRANGE', 'p', '-100', '3'), ('GETRANGE', 'p', 'x', '1'),
    ('SUBSTR', 'p', '1', '3'), ('SETRANGE', 'p', '6', 'Redis'), ('GET', 'p'),
    ('SETRANGE', 'p', '15', 'x'), ('GET', 'p'), ('SETRANGE', 'p', '-1', 'x'),
    ('SETRANGE', 'none', '3', ''), ('EXISTS', 'none'), ('SETRANGE', 'p', '536870912', 'x'),
    ('SETRANGE', 'p', 'x', 'x'), ('SETRANGE', 'q', '2', 'ab'), ('GET', 'q'),
    ('OBJECT', 'ENCODING', 'q'),
]

NUMBERS = [
    ('INCR', 'n'), ('INCRBY', 'n', '10'), ('DECR', 'n'), ('DECRBY', 'n', '3'),
    ('INCRBY', 'n', _BIG), ('INCRBY', 'n', '1.5'), ('INCRBY', 'n', ''), ('INCRBY', 'n', ' 1'),
    ('DECRBY', 'n', '-9223372036854775808'), ('SET', 'n', _BIG), ('INCR', 'n'),
    ('SET', 'n', ' 5'), ('INCR', 'n'), ('SET', 'n', '05'), ('INCR', 'n'), ('SET', 'n', ''),
    ('INCR', 'n'), ('SET', 'f', '10.50'), ('INCRBYFLOAT', 'f', '0.1'), ('INCRBYFLOAT', 'f', '-5'),
    ('INCRBYFLOAT', 'f', '5.0e3'), ('INCRBYFLOAT', 'f', 'x'), ('INCRBYFLOAT', 'f', ' 1'),
    ('INCRBYFLOAT', 'f', 'nan'), ('INCRBYFLOAT', 'f', 'inf'), ('INCRBYFLOAT', 'f', '1e4000'),
    ('INCRBYFLOAT', 'f', '0.0000000000000000001'), ('SET', 'f', '3'), ('INCRBYFLOAT', 'f', '1'),
    ('OBJECT', 'ENCODING', 'f'), ('INCRBYFLOAT', 'f', '-4'), ('INCRBYFLOAT', 'f', '1e17'),
    ('INCRBYFLOAT', 'none.f', '3.14'), ('SET', 'f', 'abc'), ('INCRBYFLOAT', 'f', '1'),
]

KEYS = [
    ('FLUSHALL',), ('MSET', 'a', '1', 'b', '2', 'abc', '3'), ('EXISTS', 'a', 'a', 'x'),
    ('TYPE', 'a'), ('TYPE', 'x'), ('DBSIZE',), ('DEL', 'a', 'x', 'a'), ('UNLINK', 'b'),
    ('KEYS', 'a*'), ('KEYS', '[^a]*'), ('KEYS',), ('RENAME', 'abc', 'd'), ('RENAME', 'abc', 'd'),
    ('RENAME', 'd', 'd'), ('GET', 'd'), ('RENAMENX', 'd', 'd'), ('SET', 'e', '5'),
    ('RENAMENX', 'd', 'e'), ('RENAMENX', 'd', 'f'), ('COPY', 'f', 'e'), ('COPY', 'f', 'f'),
    ('COPY', 'f', 'e', 'REPLACE'), ('COPY', 'f', 'e', 'WHAT'), ('TOUCH', 'e', 'x'),
    ('EXPIRE', 'e', '100'), ('TTL', 'e'), ('PERSIST', 'e'), ('PERSIST', 'e'), ('TTL', 'e'),
    ('TTL', 'x'), ('PTTL', 'x'), ('EXPIRE', 'x', '1'), ('EXPIRE', 'e', 'x'),
    ('EXPIRE', 'e', _BIG), ('PEXPIRE', 'e', _BIG), ('EXPIRE', 'e', '-' + _BIG),
    ('EXPIRE', 'e', '100', 'XX'), ('EXPIRE', 'e', '100', 'GT'), ('EXPIRE', 'e', '100', 'NX'),
    ('EXPIRE', 'e', '100', 'NX', 'GT'), ('EXPIRE', 'e', '100', 'GT', 'LT'),
    ('EXPIRE', 'e', '100', 'FOO'), ('EXPIRE', 'e', '50', 'LT'), ('EXPIREAT', 'e', '4102444800'),
    ('EXPIRETIME', 'e'), ('PEXPIRETIME', 'e'), ('PEXPIREAT', 'e', '4102444800123'),
    ('EXPIRETIME', 'e'), ('EXPIREAT', 'e', '1'), ('EXISTS', 'e'), ('EXPIRE', 'f', '-1'),
    ('EXISTS', 'f'), ('FLUSHDB', 'ASYNC'), ('FLUSHALL', 'FOO'), ('RANDOMKEY',),
    ('SET', 'only', '1'), ('RANDOMKEY',), ('SCAN', '0', 'COUNT', '1000'), ('SCAN', 'x'),
    ('SCAN', '0', 'COUNT', '0'), ('SCAN', '0', 'COUNT', 'x'), ('SCAN', '0', 'MATCH'),
    ('SCAN', '0', 'FOO', 'x'), ('SCAN', '0', 'TYPE', 'list', 'COUNT', '1000'),
    ('SCAN', '0', 'MATCH', 'x*', 'COUNT', '1000'),
]

OBJECTS = [
    ('MSET', 'i', '12', 's', 'abc', 'l', 'x' * 45, 'm', 'x' * 44), ('OBJECT', 'ENCODING', 'i'),
    ('OBJECT', 'ENCODING', 's'), ('OBJECT', 'ENCODING', 'l'), ('OBJECT', 'ENCODING', 'm'),
    ('OBJECT', 'ENCODING', 'x'), ('OBJECT', 'IDLETIME', 'x'), ('OBJECT', 'FREQ', 's'),
    ('OBJECT', 'FREQ', 'x'), ('OBJECT', 'IDLETIME', 's'), ('OBJECT', 'FOO', 's'), ('OBJECT',),
    ('OBJECT', 'ENCODING'), ('OBJECT', 'HELP'), ('MEMORY', 'USAGE', 'x'),
    ('MEMORY', 'USAGE', 's', 'SAMPLES'), ('MEMORY', 'USAGE'),
]

CONNECTION = [
    ('PING',), ('PING', 'a'), ('PING', 'a', 'b'), ('ECHO', 'a'), ('ECHO',), ('SELECT', '0'),
    ('SELECT', '1'), ('SELECT', 'x'), ('CLIENT', 'GETNAME'), ('CLIENT', 'SETNAME', 'me'),
    ('CLIENT', 'GETNAME'), ('CLIENT', 'SETNAME', 'a b'), ('CLIENT', 'SETNAME', ''),
    ('CLIENT', 'GETNAME'), ('CLIENT', 'FOO'), ('CLIENT',), ('CLIENT', 'KILL', '1.2.3.4:5'),
    ('CLIENT', 'KILL', 'ID', '0'), ('CLIENT', 'LIST', 'TYPE', 'x'), ('CLIENT', 'LIST', 'ID', 'x'),
    ('CLIENT', 'REPLY', 'x'), ('AUTH', 'x'), ('AUTH', 'a', 'b'), ('AUTH',), ('HELLO', '4'),
    ('HELLO', 'x'), ('HELLO', '3', 'FOO'), ('foo',), ('foo', 'a', 'b\r\n'), ('fo\r\no', 'x' * 200),
    ('x' * 200, 'a'), ('get',), ('GET', 'a', 'b'), ('CONFIG', 'GET', 'save'), ('CONFIG', 'GET'),
    ('CONFIG', 'GET', 'maxmemory'), ('CONFIG', 'SET', 'maxmemory', 'x'),
    ('CONFIG', 'SET', 'maxmemory', '1gb'), ('CONFIG', 'GET', 'maxmemory'),
    ('CONFIG', 'SET', 'maxmemory', '0'), ('CONFIG', 'SET', 'foo', 'x'),
    ('CONFIG', 'SET', 'save', ''), ('CONFIG', 'SET', 'appendonly', 'no'),
    ('CONFIG', 'GET', 'databases'), ('CONFIG', 'GET', 'proto-max-bulk-len'), ('CONFIG', 'FOO'),
    ('CONFIG', 'REWRITE'), ('COMMAND', 'GETKEYS', 'MSET', 'a', '1', 'b', '2'),
    ('COMMAND', 'GETKEYS', 'PING'), ('COMMAND', 'GETKEYS', 'FOO'), ('COMMAND', 'INFO', 'nonsense'),
    ('COMMAND', 'FOO'),
]

# Corners: options that exclude each other, bounds of integers, subcommands with bad arguments.
CORNERS = [
    ('SELECT', '-1'), ('SELECT', '99999999999'), ('SELECT', '0x1'), ('CLIENT', 'ID', 'x'),
    ('CLIENT', 'SETNAME'), ('CLIENT', 'GETNAME', 'x'), ('CLIENT', 'INFO', 'x'),
    ('CLIENT', 'LIST', 'x'), ('CLIENT', 'LIST', 'TYPE'), ('CLIENT', 'LIST', 'ID'),
    ('CLIENT', 'KILL'), ('CLIENT', 'KILL', 'ID'), ('CLIENT', 'KILL', 'ID', 'x'),
    ('CLIENT', 'KILL', 'ADDR', '1:2'), ('CLIENT', 'KILL', 'TYPE', 'x'),
    ('CLIENT', 'KILL', 'TYPE', 'pubsub'), ('CLIENT', 'KILL', 'USER', 'x'),
    ('CLIENT', 'KILL', 'SKIPME', 'x'),
    ('CLIENT', 'NO-EVICT', 'x'), ('CLIENT', 'NO-EVICT', 'on'),
    ('CLIENT', 'SETINFO', 'LIB-NAME', 'x'), ('COMMAND', 'COUNT', 'x'), ('COMMAND', 'LIST', 'x'),
    ('COMMAND', 'LIST', 'FILTERBY', 'PATTERN', 'getde*'), ('COMMAND', 'DOCS', 'nonsense'),
    ('COMMAND', 'INFO', 'nonsense', 'foo'), ('COMMAND', 'GETKEYS'), ('COMMAND', 'GETKEYS', 'GET'),
    ('COMMAND', 'GETKEYS', 'GET', 'k', 'x'), ('COMMAND', 'GETKEYS', 'OBJECT', 'ENCODING', 'x'),
    ('COMMAND', 'GETKEYS', 'MGET', 'a', 'b'), ('COMMAND', 'GETKEYS', 'RENAME', 'a', 'b'),
    ('CONFIG', 'GET', 'a', 'b'), ('CONFIG', 'GET', 'nonsense'), ('CONFIG', 'SET'),
    ('CONFIG', 'SET', 'maxmemory'), ('CONFIG', 'SET', 'maxmemory', '1', 'timeout'),
    ('CONFIG', 'SET', 'timeout', 'x'), ('CONFIG', 'SET', 'timeout', '-1'),
    ('CONFIG', 'SET', 'timeout', '99999999999'), ('CONFIG', 'SET', 'maxclients', '0'),
    ('CONFIG', 'SET', 'databases', '4'), ('CONFIG', 'SET', 'protected-mode', 'x'),
    ('CONFIG', 'SET', 'protected-mode', 'yes'), ('CONFIG', 'SET', 'proto-max-bulk-len', '1'),
    ('CONFIG', 'SET', 'proto-max-bulk-len', 'x'),
    ('CONFIG', 'SET', 'client-query-buffer-limit', '1'),
    ('CONFIG', 'SET', 'client-output-buffer-limit', 'normal'),
    ('CONFIG', 'SET', 'client-output-buffer-limit', 'x 1 1 1'),
    ('CONFIG', 'SET', 'client-output-buffer-limit', 'normal x 1 1'),
    ('CONFIG', 'SET', 'maxmemory', '1kk'), ('CONFIG', 'SET', 'maxmemory', '-1'),
    ('CONFIG', 'SET', 'maxmemory-policy', 'noeviction'), ('CONFIG', 'RESETSTAT'),
    ('CONFIG', 'RESETSTAT', 'x'), ('OBJECT', 'HELP'), ('OBJECT', 'ENCODING'),
    ('OBJECT', 'ENCODING', 'a', 'b'), ('OBJECT', 'FREQ'), ('OBJECT', 'REFCOUNT', 'none'),
    ('MEMORY', 'FOO'), ('MEMORY', 'PURGE'), ('MEMORY', 'USAGE', 'k', 'SAMPLES', '-1'),
    ('MEMORY', 'USAGE', 'none', 'SAMPLES', '5'), ('MEMORY', 'USAGE', 'none', 'FOO', '5'),
    ('MEMORY', 'USAGE', 'none', 'SAMPLES', 'x'), ('HELLO', '2', 'AUTH', 'x'),
    ('HELLO', '2', 'AUTH', 'a', 'b'), ('HELLO', '2', 'SETNAME'), ('HELLO', '2', 'SETNAME', 'a b'),
    ('HELLO', '1'), ('HELLO', '2.0'), ('HELLO', ''), ('AUTH', 'default', 'x'),
    ('AUTH', 'a', 'b', 'c'), ('PING', 'a', 'b', 'c'), ('RESET', 'x'), ('TIME', 'x'), ('QUIT2',),
    ('DBSIZE', 'x'), ('FLUSHALL', 'x', 'y'), ('FLUSHDB', 'SYNC'), ('RANDOMKEY', 'x'),
    ('KEYS', 'a', 'b'), ('SCAN',), ('SCAN', '0', 'TYPE'), ('SCAN', '0', 'COUNT', '-5'),
    ('SCAN', '0', 'COUNT', '5', 'MATCH'), ('SCAN', '18446744073709551616'), ('SCAN', '1 '),
    ('SET', 'k', 'v', 'PXAT', '1'), ('SET', 'k', 'v', 'EXAT', '-1'),
    ('SET', 'k', 'v', 'EXAT', _BIG), ('SET', 'k', 'v', 'PXAT', _BIG), ('TTL', 'k'),
    ('SET', 'k', 'v', 'EX', '9223372036854775'), ('SET', 'k', 'v', 'GET', 'EX', '100'),
    ('SET', 'k', 'v', 'KEEPTTL', 'GET'), ('TTL', 'k'), ('SET', 'k', 'v', 'NX', 'GET'),
    ('SET', 'k', 'v', 'FOO'), ('GETEX', 'k', 'EXAT', '1'), ('EXISTS', 'k'), ('SET', 'k', 'v'),
    ('GETEX', 'k', 'PX', _BIG), ('GETEX', 'k', 'PERSIST', 'PERSIST'), ('GETEX', 'k', 'KEEPTTL'),
    ('SETEX', 'k', _BIG, 'v'), ('PSETEX', 'k', _BIG, 'v'), ('SETEX', 'k', '1.5', 'v'),
    ('EXPIRE', 'k', _BIG), ('EXPIREAT', 'k', _BIG), ('PEXPIREAT', 'k', _BIG),
    ('PEXPIREAT', 'k', '-9223372036854775808'), ('EXISTS', 'k'), ('SET', 'k', '10'),
    ('EXPIRE', 'k', '10', 'NX'), ('EXPIRE', 'k', '20', 'NX'), ('EXPIRE', 'k', '20', 'XX', 'GT'),
    ('EXPIRE', 'k', '5', 'XX', 'LT'), ('EXPIRE', 'k', '5', 'xx', 'lt', 'foo'),
    ('EXPIRE', 'none', 'x'), ('EXPIRE', 'none', '5', 'FOO'), ('TTL', 'k'), ('APPEND', 'k', ''),
    ('GETRANGE', 'k', '0', _BIG), ('GETRANGE', 'k', '-9223372036854775808', '-1'),
    ('GETRANGE', 'k', '9223372036854775808', '1'), ('SETRANGE', 'k', _BIG, 'x'),
    ('SETRANGE', 'k', '0', ''), ('SETRANGE', 'none', '0', ''),
    ('INCRBY', 'k', '9223372036854775808'), ('DECRBY', 'k', _BIG), ('DECRBY', 'k', _BIG),
    ('INCRBYFLOAT', 'k', '1e5'), ('INCRBYFLOAT', 'k', '1.7976931348623157e4932'),
    ('INCRBYFLOAT', 'k', '-0'), ('INCRBYFLOAT', 'k', '0x10'), ('INCRBYFLOAT', 'k', ''),
    ('INCRBYFLOAT', 'new', '.5'), ('INCRBYFLOAT', 'new', '5.'), ('MSET',), ('MSET', 'a'),
    ('MSETNX', 'a'), ('COPY', 'a'), ('COPY', 'a', 'b', 'DB'), ('COPY', 'a', 'b', 'DB', '1'),
    ('COPY', 'a', 'b', 'DB', 'x'), ('COPY', 'a', 'b', 'DB', '0', 'REPLACE'),
    ('RENAME', 'none', 'x'), ('RENAMENX', 'none', 'x'), ('TOUCH',), ('OBJECT', 'IDLETIME', 'k'),
    ('OBJECT', 'ENCODING', 'new'), ('foo|bar',), ('config|get', 'x'), ('',),
]

NAMES = (
    'ping echo auth select client config dbsize flushall flushdb get set setnx setex psetex getset '
    'getdel getex mget mset msetnx del unlink exists type strlen append getrange setrange substr '
    'incr decr incrby decrby incrbyfloat expire pexpire expireat pexpireat ttl pttl expiretime '
    'pexpiretime persist rename renamenx copy touch randomkey keys scan object memory').split()

# Every command with too few and too many arguments, and with ones that fit some and not others.
ARITY = [words for name in NAMES for words in (
    ('FLUSHALL',), (name,), (name.upper(), *'xxxxxxxxx'), (name, 'k'), (name, 'k', '1'),
    (name, 'k', '1', '2'))]

# Two options of SET, in each order and also twice the same; times that are none.
_OPTIONS = (('EX', '100'), ('PX', '100000'), ('EXAT', '4102444800'), ('PXAT', '4102444800000'),
            ('NX',), ('XX',), ('KEEPTTL',), ('GET',))
_NO_TIMES = ('0', '-1', '', 'x', '1.0', '1 ', ' 1', '+1', '01', _BIG, '9223372036854775808',
             '-9223372036854775808')
SET_OPTIONS = [words for one in _OPTIONS for other in _OPTIONS for words in (
    ('DEL', 'z'), ('SET', 'z', '1', *one, *other), ('SET', 'z', '2', *one, *other), ('GET', 'z'))]
SET_OPTIONS += [(command, 'z', *value, option, time)
                for option in ('EX', 'PX', 'EXAT', 'PXAT') for time in _NO_TIMES
                for command, *value in (('SET', '1'), ('GETEX',))]

_BOUNDS = ('0', '-1', '1', '-11', '-12', '11', '10', '100', '-100', _BIG, '-' + _BIG,
           '-9223372036854775808', 'x', '', '1.0')
RANGES = [('SET', 'p', 'Hello World')]
RANGES += [('GETRANGE', 'p', start, end) for start in _BOUNDS for end in _BOUNDS]
RANGES += [words for key in ('p', 'none') for words in (
    ('SETRANGE', key, '536870911', ''), ('SETRANGE', key, '536870911', 'xx'),
    ('SETRANGE', key, '536870912', ''), ('SETRANGE', key, '-1', ''), ('SETRANGE', key, _BIG, ''),
    ('SETRANGE', key, _BIG, 'x'), ('SETRANGE', key, '536870902', '0123456789a'),
    ('STRLEN', key))]

_NUMBERS = ('0 1 -1 3.0 3.10 1e3 1e16 1e17 1e18 1e30 1e300 -1e300 1e-5 1e-17 1e-18 1e-300 0.1 '
            '123456789.987654321 1.7e308 3e4000 -0 -0.0 +1 +1.5 1. .5 1e e1 0x1p3 0xA inf -inf '
            'infinity nan -- 1_000 1,5 99999999999999999999 18446744073709551616 '
            '9223372036854775807 -9223372036854775808 -9223372036854775809 1e4932 007 '
            '0.30000000000000004').split() + ['', ' 1', '1 ', '1\x00']
FORMS = [words for text in _NUMBERS for words in (
    ('DEL', 'f'), ('INCRBYFLOAT', 'f', text), ('INCRBYFLOAT', 'f', '0.1'), ('GET', 'f'),
    ('SET', 'f', text), ('OBJECT', 'ENCODING', 'f'), ('INCRBYFLOAT', 'f', '1'), ('SET', 'f', text),
    ('INCR', 'f'), ('DECRBY', 'f', '-1'), ('DECRBY', 'f', '-9223372036854775808'), ('GET', 'f'),
    ('SET', 'f', '1'), ('INCRBY', 'f', text), ('DECRBY', 'f', text))]

BOUNDS = [('CONFIG', 'SET', name, value) for name, before in (
    ('proto-max-bulk-len', '536870912'), ('client-query-buffer-limit', '1073741824'),
    ('maxmemory', '0'), ('timeout', '0'))
          for value in (_BIG, '9223372036854775808', '18446744073709551615',
                        '18446744073709551616', '-1', '0', '1048575', '1048576', '1mb', '1.5mb',
                        'x', before)]
BOUNDS += [words for value in ('5%', '0%', '100%', '101%', '05%', '%', '-1', 'x', '1mb', '64',
                               '9223372036854775807', '9223372036854775808', '0') for words in (
    ('CONFIG', 'SET', 'maxmemory-clients', value), ('CONFIG', 'GET', 'maxmemory-clients'))]
BOUNDS += [('CLIENT', 'NO-EVICT', 'on'), ('CLIENT', 'NO-EVICT', 'off'), ('CLIENT', 'NO-EVICT', 'x'),
           ('SHUTDOWN', 'NOSAVE', 'SAVE'), ('SHUTDOWN', 'ABORT'), ('SHUTDOWN', 'ABORT', 'NOW'),
           ('SHUTDOWN', 'SAVE', 'ABORT'), ('SHUTDOWN', 'nonsense'),
           ('HELLO', '2', 'SETNAME', 'early', 'nonsense'), ('CLIENT', 'GETNAME'),
           ('HELLO', '2', 'SETNAME', 'two', 'SETNAME', 'a b'), ('CLIENT', 'GETNAME'),
           ('CLIENT', 'SETNAME', '')]

SEARCHES = [
    ('FLUSHALL',), ('MSET', 'a1', '1', 'a2', '2', 'b1', '3'), ('KEYS', ''), ('KEYS', 'b?'),
    ('KEYS', 'b[0-9]'), ('KEYS', '\\b1'), ('KEYS', 'b[1'), ('KEYS', '[]'), ('KEYS', 'b1['),
    ('KEYS', 'b1\\'), ('KEYS', '[^]b1'), ('KEYS', 'b[1-'), ('KEYS', '**b*1**'),
    ('SCAN', '-0', 'MATCH', 'b*', 'COUNT', '100'), ('SCAN', '', 'MATCH', 'b*', 'COUNT', '100'),
    ('SCAN', '+0', 'MATCH', 'b*', 'COUNT', '100'), ('SCAN', '-'), ('SCAN', '+'), ('SCAN', '--1'),
    ('SCAN', ' 0'), ('SCAN', '0 '), ('SCAN', '0x1'),
    ('SCAN', '0', 'MATCH', 'zz', 'MATCH', 'b*', 'COUNT', '100'),
    ('SCAN', '0', 'TYPE', 'STRING', 'MATCH', 'b1', 'COUNT', _BIG),
    ('SCAN', '0', 'COUNT', '9223372036854775808'), ('SCAN', '0', 'COUNT', '1.5'),
    ('CONFIG', 'GET', 'SAVE'), ('CONFIG', 'GET', 'save', 'SAVE'), ('CONFIG', 'GET', '\\save'),
    ('CONFIG', 'GET', 'maxmemor[xy]'), ('CONFIG', 'GET', 'MAXMEMOR[XY]'),
    ('CONFIG', 'GET', 'maxmemory-polic?'), ('CONFIG', 'GET', 'appendonl*'), ('CONFIG', 'GET', ''),
    ('CLIENT', 'LIST', 'ID', '0'), ('CLIENT', 'LIST', 'ID', '-1', '999999'),
    ('COMMAND', 'INFO', 'config|nonsense', 'a|b|c', 'get|x', '|', ''),
    ('COMMAND', 'DOCS', 'config|nonsense'), ('COMMAND', 'LIST', 'FILTERBY', 'PATTERN', 'OBJECT|F*'),
    ('COMMAND', 'LIST', 'FILTERBY', 'PATTERN', 'mset?x'),
    ('COMMAND', 'LIST', 'FILTERBY', 'ACLCAT', 'nonsense'), ('COPY', 'a1', 'c', 'DB', '99999999999'),
    ('COPY', 'a1', 'c', 'DB', '-1'), ('COPY', 'a1', 'a1', 'DB', '0'),
]

# Which of them count as hits and misses of the key space.
LOOKUPS = [words for key in ('k', 'none') for words in (
    ('SET', 'k', '1', 'EX', '100'), ('GET', key), ('GETEX', key), ('SET', key, '1', 'XX', 'GET'),
    ('SET', key, '1', 'XX'), ('TTL', key), ('PTTL', key), ('EXPIRETIME', key), ('TYPE', key),
    ('OBJECT', 'ENCODING', key), ('OBJECT', 'IDLETIME', key), ('OBJECT', 'REFCOUNT', key),
    ('OBJECT', 'FREQ', key), ('MEMORY', 'USAGE', key), ('EXISTS', key, key), ('TOUCH', key, key),
    ('STRLEN', key), ('GETRANGE', key, '0', '1'), ('MGET', key, 'none'), ('PERSIST', key),
    ('EXPIRE', key, '100'), ('RENAME', key, 'other'), ('RENAME', 'other', key), ('COPY', key, 'c'),
    ('RENAMENX', key, 'c'), ('COPY', 'c', key, 'REPLACE'), ('DEL', 'c'), ('UNLINK', 'c'),
    ('KEYS', '*'), ('SCAN', '0'), ('RANDOMKEY',), ('MSETNX', 'k', '1'), ('MSET', 'k', '1'),
    ('GETDEL', key), ('GETSET', key, '1'), ('DEL', key), ('GETSET', key, '1'), ('DEL', key),
    ('APPEND', key, '1'), ('DEL', key), ('INCR', key), ('INCR', key), ('INCRBYFLOAT', key, '1'),
    ('SETRANGE', key, '0', '1'), ('SETNX', key, '1'), ('DEL', key), ('SETNX', key, '1'),
    ('DEL', key))]

# Commands to a server whose password is "word".
LOCKED = [
    ('GET', 'k'), ('PING',), ('foo',), ('GET',), ('COMMAND',), ('CLIENT', 'ID'), ('CLIENT', 'FOO'),
    ('HELLO',), ('HELLO', '2'), ('HELLO', '4'), ('HELLO', 'x'), ('HELLO', '3', 'FOO'),
    ('HELLO', '3', 'AUTH', 'default', 'bad'), ('HELLO', '3', 'AUTH', 'nobody', 'word'),
    ('HELLO', '3', 'SETNAME', 'a b'), ('AUTH',), ('AUTH', 'bad'), ('AUTH', 'default', 'bad'),
    ('AUTH', 'a', 'word'), ('AUTH', 'a', 'b', 'c'), ('RESET',), ('AUTH', 'word'), ('GET', 'k'),
    ('CONFIG', 'GET', 'requirepass'), ('RESET',), ('GET', 'k'), ('AUTH', 'default', 'word'),
    ('CONFIG', 'SET', 'requirepass', 'other'), ('GET', 'k'), ('AUTH', 'word'), ('GET', 'k'),
    ('AUTH', 'other'), ('CONFIG', 'SET', 'requirepass', ''), ('AUTH', 'x'),
    ('AUTH', 'default', 'x'),
]

DIALOGUE = (ARITY + CORNERS + STRINGS + PARTS + NUMBERS + KEYS + OBJECTS + CONNECTION +
            SET_OPTIONS + RANGES + FORMS + SEARCHES + BOUNDS)
