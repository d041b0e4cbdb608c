"""A broker (CoilMQ) and a subscriber to it (stomp.py).

Prints the port and the virtual host, and then each message as a line of JSON.
"""

import json
import socket
import sys
import threading

import stomp
from coilmq.queue import QueueManager
from coilmq.server.socket_server import ThreadedStompServer
from coilmq.store.memory import MemoryQueue
from coilmq.topic import TopicManager

DESTINATION = sys.argv[1]


class Printer(stomp.ConnectionListener):
    def on_message(self, frame):
        print(json.dumps({"headers": frame.headers, "body": frame.body}), flush=True)


server = ThreadedStompServer(
    ("127.0.0.1", 0),
    queue_manager=QueueManager(store=MemoryQueue()),
    topic_manager=TopicManager(),
)
port = server.server_address[1]
threading.Thread(target=server.serve_forever, daemon=True).start()

# CoilMQ takes no other name than that of this machine.
host = socket.getfqdn()
client = stomp.Connection12([("127.0.0.1", port)], vhost=host)
client.set_listener("", Printer())
client.connect("guest", "guest", wait=True)
subscribed = threading.Event()


class Receipt(stomp.ConnectionListener):
    def on_receipt(self, frame):
        subscribed.set()


client.set_listener("receipt", Receipt())
client.subscribe(DESTINATION, id="1", ack="auto", headers={"receipt": "subscribed"})
if not subscribed.wait(20):
    sys.exit("the broker did not confirm the subscription")
print(json.dumps({"port": port, "host": host}), flush=True)
sys.stdin.read()
