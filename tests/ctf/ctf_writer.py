# SPDX-License-Identifier: BSD-3-Clause
"""Writes CTF 1.8 traces as LTTng does: metadata in packets, compact event headers, kernel events of
TCP packets; and traces of user events and of ROS 2. Shares nothing with the tool."""

import random
import struct
import uuid
from pathlib import Path

NS = 1_000_000_000
BEGIN = 1_700_000_000 * NS  # true time of the first event

HEADER_FIELDS = """
  enum : uint8_t { "_unknown" = 0, "_ipv4" = 1, "_ipv6" = 2 } _network_header_type;
  variant <_network_header_type> {
    struct { } _unknown;
    struct {
      integer { size = 4; align = 4; byte_order = be; } _version;
      integer { size = 4; align = 4; byte_order = be; } _ihl;
      uint8_t _tos;
      be16_t _tot_len;
      be16_t _id;
      be16_t _frag_off;
      uint8_t _ttl;
      uint8_t _protocol;
      be16_t _checksum;
      uint8_t _saddr[4];
      uint8_t _daddr[4];
      enum : uint8_t { "_unknown" = 0, "_tcp" = 1 } _transport_header_type;
      variant <_transport_header_type> {
        struct { } _unknown;
        struct {
          be16_t _source_port;
          be16_t _dest_port;
          be32_t _seq;
          be32_t _ack_seq;
          integer { size = 4; align = 4; byte_order = be; } _data_offset;
          integer { size = 3; align = 1; byte_order = be; } _reserved;
          integer { size = 9; align = 1; byte_order = be; } _flags;
          be16_t _window_size;
          be16_t _checksum;
          be16_t _urg_ptr;
        } _tcp;
      } _transport_header;
    } _ipv4;
    struct { } _ipv6;
  } _network_header;
"""

EVENTS = {  # name: (id, fields)
    "net_dev_queue": (0, "uint64_t _skbaddr; uint32_t _len; string _name;" + HEADER_FIELDS),
    "netif_receive_skb": (1, "uint64_t _skbaddr; uint32_t _len; string _name;" + HEADER_FIELDS),
    "inet_sock_local_out": (2, "uint64_t _sk; be32_t _seq; be32_t _ack_seq; be16_t _check; be16_t _window; be16_t _flags;"),
    "inet_sock_local_in": (3, "uint64_t _sk; be32_t _seq; be32_t _ack_seq; be16_t _check; be16_t _window; be16_t _flags;"),
    "app:request": (4, "uint32_t _id; string _kind;"),
    "app:serve": (5, "uint64_t _request; string _what;"),
    "ros2:rmw_publish": (6, "uint64_t _rmw_publisher_handle; uint64_t _message; int64_t _timestamp;"),
    "ros2:rmw_take": (7, "uint64_t _rmw_subscription_handle; uint64_t _message; int64_t _source_timestamp; int32_t _taken;"),
    "sched_switch": (40, "int32_t _next_tid;"),  # more than 30: an extended header
}

METADATA = """/* CTF 1.8 */

typealias integer {{ size = 8; align = 8; signed = false; }} := uint8_t;
typealias integer {{ size = 32; align = 8; signed = false; }} := uint32_t;
typealias integer {{ size = 64; align = 8; signed = false; }} := uint64_t;
typealias integer {{ size = 32; align = 8; signed = true; }} := int32_t;
typealias integer {{ size = 64; align = 8; signed = true; }} := int64_t;
typealias integer {{ size = 5; align = 1; signed = false; }} := uint5_t;
typealias integer {{ size = 16; align = 8; byte_order = be; }} := be16_t;
typealias integer {{ size = 32; align = 8; byte_order = be; }} := be32_t;

trace {{
  major = 1;
  minor = 8;
  uuid = "{uuid}";
  byte_order = le;
  packet.header := struct {{
    uint32_t magic;
    uint8_t uuid[16];
    uint32_t stream_id;
  }};
}};

env {{
  {env}
  domain = "kernel";
  tracer_name = "lttng-modules";
  tracer_major = 2;
  tracer_minor = 13;
}};

{clock}

typealias integer {{ size = 27; align = 1; signed = false; map = clock.monotonic.value; }} := stamp27_t;
typealias integer {{ size = 64; align = 8; signed = false; map = clock.monotonic.value; }} := stamp64_t;

stream {{
  id = 0;
  event.header := struct {{
    enum : uint5_t {{ compact = 0 ... 30, extended = 31 }} id;
    variant <id> {{
      struct {{ stamp27_t timestamp; }} compact;
      struct {{ uint32_t id; stamp64_t timestamp; }} extended;
    }} v;
  }} align(8);
  packet.context := struct {{
    stamp64_t timestamp_begin;
    stamp64_t timestamp_end;
    uint64_t content_size;
    uint64_t packet_size;
    uint64_t packet_seq_num;
    uint64_t events_discarded;
    uint32_t cpu_id;
  }};
}};

"""

CLOCK = """clock {{
  name = "monotonic";
{uuid}  description = "Monotonic Clock";
  freq = {freq}; /* Frequency, in Hz */
  /* clock value offset from Epoch is: offset * (1/freq) */
  offset = {offset};
}};"""


class Host:
    """A host whose clock shows true time + `ahead` + `ppm` * the time since the begin, ns."""

    def __init__(self, name, ahead=0, ppm=0.0, freq=NS, boot=12_345 * NS, bend_ppm=0.0):
        self.name, self.ahead, self.ppm, self.freq = name, ahead, ppm, freq
        self.offset = (BEGIN - boot) * freq // NS  # counts, as LTTng writes it
        self.uuid = uuid.uuid5(uuid.NAMESPACE_DNS, name)
        self.bend_ppm = bend_ppm  # added to the rate after 50 s
        self.events = []  # (count, stream, name, payload)

    def count(self, time):
        since = time - BEGIN
        shown = time + self.ahead + round(since * self.ppm / 1e6)
        shown += round(max(0, since - 50 * NS) * self.bend_ppm / 1e6)
        return shown * self.freq // NS - self.offset

    def add(self, time, name, payload, stream=0):
        self.events.append((self.count(time), stream, name, payload))


def packetized(text, identity, size=4096):
    """Metadata in packets, whose borders lie anywhere in the text."""
    body = text.encode()
    room = size - 37
    packets = b""
    for at in range(0, len(body), room):
        part = body[at : at + room]
        packets += struct.pack("<I16sIIIBBBBB", 0x75D11D57, identity.bytes, 0, (37 + len(part)) * 8,
                               size * 8, 0, 0, 0, 1, 8)
        packets += part + b"\0" * (size - 37 - len(part))
    return packets


def write_trace(folder, host, in_packets=True, hostname=True, clock_uuid=True, clock=True,
                discarded=0, events_per_packet=200):
    folder = Path(folder)
    folder.mkdir(parents=True)
    identity = uuid.uuid5(uuid.NAMESPACE_DNS, str(folder.name) + host.name)
    text = METADATA.format(
        uuid=identity,
        env=f'hostname = "{host.name}";' if hostname else "",
        clock=CLOCK.format(uuid=f'  uuid = "{host.uuid}";\n' if clock_uuid else "",
                           freq=host.freq, offset=host.offset))
    if not clock:
        text = text.replace(CLOCK.format(uuid=f'  uuid = "{host.uuid}";\n', freq=host.freq,
                                         offset=host.offset), "").replace(
            "map = clock.monotonic.value;", "")
    for name, (number, fields) in EVENTS.items():
        text += (f'event {{\n  name = "{name}";\n  id = {number};\n  stream_id = 0;\n'
                 f"  fields := struct {{ {fields} }};\n}};\n\n")
    (folder / "metadata").write_bytes(packetized(text, identity) if in_packets else text.encode())
    for stream in sorted({event[1] for event in host.events}):
        events = sorted((e for e in host.events if e[1] == stream), key=lambda e: e[0])
        data = b""
        for n, at in enumerate(range(0, len(events), events_per_packet)):
            data += packet(identity, events[at : at + events_per_packet], n, discarded, stream)
        (folder / f"channel0_{stream}").write_bytes(data)


def packet(identity, events, number, discarded, cpu):
    body = b""
    last = events[0][0]
    for count, _, name, payload in events:
        event_id = EVENTS[name][0]
        if event_id <= 30 and count - last < 1 << 27:
            body += struct.pack("<I", event_id | (count & ((1 << 27) - 1)) << 5)
        else:
            body += struct.pack("<BIQ", 31, event_id, count)
        body += payload
        last = count
    size = 24 + 52 + len(body)
    header = struct.pack("<I16sI", 0xC1FC1FC1, identity.bytes, 0)
    context = struct.pack("<QQQQQQI", events[0][0], last, size * 8, size * 8, number,
                          discarded * number, cpu)
    return header + context + body


def tcp_packet(source, target, port, seq, ack, flags=0x18, ident=0, window=512, device="eth0"):
    """Payload of net_dev_queue and of netif_receive_skb."""
    ip = bytes([0x45, 0]) + struct.pack(">HHHBBH", 60, ident, 0, 64, 6, 0)
    ip += bytes([10, 0, 0, source]) + bytes([10, 0, 0, target])
    tcp = struct.pack(">HHIIBBHHH", 40_000 + port, 80, seq & 0xFFFFFFFF, ack & 0xFFFFFFFF,
                      5 << 4 | flags >> 8, flags & 0xFF, window, 0, 0)
    return (struct.pack("<QI", 0xFFFF888000000000 + seq, 60) + device.encode() + b"\0" + b"\1" + ip +
            b"\1" + tcp)


def sock_packet(seq, ack, check, flags=0x18, window=512):
    return struct.pack("<Q", 0xFFFF888000000000) + struct.pack(">IIHHH", seq, ack, check, window, flags)


def add_messages(hosts, messages, seconds, kind, seed=1, twice=()):
    """Messages both ways between random hosts, 30 to 90 us each. `twice`: numbers of messages that
    are sent again, 200 ms later."""
    rng = random.Random(seed)
    for n in range(messages):
        time = BEGIN + round((n + rng.random()) * seconds * NS / messages)
        arrival = time + rng.randrange(30_000, 90_000)
        a, b = rng.sample(range(len(hosts)), 2)
        stream = n % 2
        if kind == "net":
            for again in range(2 if n in twice else 1):
                payload = tcp_packet(a, b, 0, 1000 * n, 77 * n, ident=n % 65536 if n not in twice else 7)
                hosts[a].add(time + again * NS // 5, "net_dev_queue", payload, stream)
            hosts[b].add(arrival, "netif_receive_skb", payload, 1 - stream)
        elif kind == "sock":
            hosts[a].add(time, "inet_sock_local_out", sock_packet(1000 * n, 77 * n, 0), stream)
            hosts[b].add(arrival, "inet_sock_local_in", sock_packet(1000 * n, 77 * n, 99), stream)
        elif kind == "user":
            hosts[a].add(time, "app:request", struct.pack("<I", n) + b"get\0", stream)
            hosts[b].add(arrival, "app:serve", struct.pack("<Q", n) + b"page\0", stream)
        elif kind == "ros":
            stamp = hosts[a].count(time) + hosts[a].offset
            hosts[a].add(time, "ros2:rmw_publish", struct.pack("<QQq", 1, 2, stamp), stream)
            for handle in range(2):  # two subscriptions of a host
                hosts[b].add(arrival + handle, "ros2:rmw_take",
                             struct.pack("<QQqi", handle, 3, stamp, 1), stream)
            hosts[b].add(arrival + 9, "ros2:rmw_take", struct.pack("<QQqi", 1, 3, 0, 0), stream)
        if n % 10 == 0:
            hosts[a].add(time + 5_000, "sched_switch", struct.pack("<i", n), stream)


def write_run(folder, hosts, **options):
    for host in hosts:
        write_trace(Path(folder) / host.name / "kernel", host, **options)
