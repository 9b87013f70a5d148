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

DIALOGUE = STRINGS + PARTS + NUMBERS + KEYS + OBJECTS + CONNECTION
