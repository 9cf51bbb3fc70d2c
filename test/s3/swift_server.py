"""OpenStack Swift with its S3 interface, all of it on this machine: `/usr/bin/python3 swift_server.py DIRECTORY`.

Prints the port once it answers, and ends when its standard input does. Its one account is test:tester / testing.
"""
import os
import signal
import socket
import subprocess
import sys
import time

SERVERS = ('account', 'container', 'object')

SWIFT_CONF = """
[swift-hash]
swift_hash_path_suffix = test
[storage-policy:0]
name = default
default = yes
"""

SERVER_CONF = """
[DEFAULT]
bind_ip = 127.0.0.1
bind_port = {port}
workers = 0
devices = {directory}/devices
mount_check = false
swift_dir = {directory}
log_address = /dev/null
user = {user}
[pipeline:main]
pipeline = {name}-server
[app:{name}-server]
use = egg:swift#{name}
conn_timeout = 20
node_timeout = 60
"""

PROXY_CONF = """
[DEFAULT]
bind_ip = 127.0.0.1
bind_port = {port}
workers = 0
swift_dir = {directory}
log_address = /dev/null
user = {user}
[pipeline:main]
pipeline = catch_errors cache s3api tempauth slo proxy-server
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:cache]
paste.filter_factory = swift_server:cache_in_memory
[filter:s3api]
use = egg:swift#s3api
[filter:tempauth]
use = egg:swift#tempauth
user_test_tester = testing .admin
[filter:slo]
use = egg:swift#slo
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
conn_timeout = 20
node_timeout = 60
error_suppression_interval = 1
"""


class Cache:
    """What Swift wants of memcached."""

    def __init__(self):
        self.values = {}

    def set(self, key, value, **_):
        self.values[key] = value

    def get(self, key, **_):
        return self.values.get(key)

    def delete(self, key, **_):
        self.values.pop(key, None)


def cache_in_memory(_, **__):
    cache = Cache()

    def wrap(app):
        def filtered(env, start_response):
            env['swift.cache'] = cache
            return app(env, start_response)
        return filtered
    return wrap


def serve(directory, name):
    """Runs one server in this process."""
    from swift.common import utils, wsgi
    utils.set_swift_dir(directory)
    sys.exit(wsgi.run_wsgi(os.path.join(directory, name + '.conf'), name + '-server'))


def free_ports(count):
    held = [socket.socket() for _ in range(count)]
    for each in held:
        each.bind(('127.0.0.1', 0))
    ports = [each.getsockname()[1] for each in held]
    for each in held:
        each.close()
    return ports


def make_ring(directory, name, port):
    from swift.common.ring import RingBuilder
    builder = RingBuilder(2, 1, 1)
    builder.add_dev({'id': 0, 'region': 1, 'zone': 1, 'ip': '127.0.0.1', 'port': port, 'device': 'disk',
                     'weight': 1.0, 'meta': '', 'replication_ip': '127.0.0.1', 'replication_port': port})
    builder.rebalance()
    builder.get_ring().save(os.path.join(directory, name + '.ring.gz'))


def answers(port):
    try:
        socket.create_connection(('127.0.0.1', port), 1).close()
        return True
    except OSError:
        return False


def main(directory):
    import pwd
    user = pwd.getpwuid(os.getuid()).pw_name
    os.makedirs(os.path.join(directory, 'devices', 'disk'), exist_ok=True)
    with open(os.path.join(directory, 'swift.conf'), 'w') as file:
        file.write(SWIFT_CONF)
    ports = dict(zip(SERVERS + ('proxy',), free_ports(4)))
    for name, port in ports.items():
        text = PROXY_CONF if name == 'proxy' else SERVER_CONF
        with open(os.path.join(directory, name + '.conf'), 'w') as file:
            file.write(text.format(directory=directory, name=name, port=port, user=user))
        if name != 'proxy':
            make_ring(directory, name, port)
    children = [subprocess.Popen([sys.executable, __file__, 'serve', directory, name], stdin=subprocess.DEVNULL)
                for name in ports]
    try:
        deadline = time.time() + 240
        while not all(answers(port) for port in ports.values()):
            if time.time() > deadline or any(child.poll() is not None for child in children):
                sys.exit('Swift did not start')
            time.sleep(0.05)
        print(ports['proxy'], flush=True)
        sys.stdin.read()
    finally:
        for child in children:
            child.send_signal(signal.SIGKILL)
            child.wait()


if __name__ == '__main__':
    if sys.argv[1] == 'serve':
        serve(sys.argv[2], sys.argv[3])
    else:
        main(os.path.abspath(sys.argv[1]))
