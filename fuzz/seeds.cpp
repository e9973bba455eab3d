// SPDX-License-Identifier: BSD-3-Clause
// First inputs: files of recorded and generated archives, and small programs.
#include <algorithm>

#include <entrain/entrain.hpp>

#include "formats/json/document.hpp"
#include "fuzz/targets.hpp"
#include "net/model/generators.hpp"
#include "net/model/topology_dot.hpp"
#include "support/all_records.hpp"
#include "support/big_endian.hpp"
#include "support/files.hpp"
#include "support/random_events.hpp"
#include "support/small_trace.hpp"

namespace entrain::fuzz {

namespace fs = std::filesystem;
using test::Bytes;

namespace {

using Seeds = std::map<fs::path, Bytes>;

constexpr std::size_t k_largest_seed = 24 * 1024;  ///< longer ones make the fuzzers slow

Bytes operator+(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

const Bytes k_cut_bytes(k_cut, k_cut + sizeof k_cut - 1);

/// Files of an archive as inputs of the targets that read.
void add_archive(Seeds& seeds, const std::string& name, const fs::path& folder) {
  const auto add = [&](const fs::path& input, const Bytes& bytes) {
    if (bytes.size() <= k_largest_seed) seeds[input] = bytes;
  };
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const fs::path& file = entry.path();
    const std::string input = name + "-" + file.filename().string();
    const std::string extension = file.extension().string();
    const bool is_local = file.parent_path() != folder;
    if (extension == ".evt") add(fs::path("event_file") / input, test::read_bytes(file));
    if (extension == ".def") {
      add(fs::path("definitions") / input,
          Bytes{is_local ? std::uint8_t{1} : std::uint8_t{0}} + test::read_bytes(file));
    }
    if (extension == ".otf2") {
      add(fs::path("definitions") / input, Bytes{2} + test::read_bytes(file));
    }
  }
}

/// Two chunks: the first one ends with its mark, the second one is a whole file.
void add_two_chunks(Seeds& seeds, const Bytes& file) {
  Bytes first(file.begin(), file.end() - 2);
  first.push_back(0);
  seeds["event_file/two-chunks"] = first + k_cut_bytes + file;
}

void add_programs(Seeds& seeds) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    test::Random random(seed);
    Bytes program{static_cast<std::uint8_t>(seed % 8)};
    for (unsigned i = 0; i < 40; ++i) {
      // Few kinds at a time, so that partners meet.
      program.push_back(static_cast<std::uint8_t>(random.below(3)));
      program.push_back(static_cast<std::uint8_t>(random.below(20)));
      program.push_back(static_cast<std::uint8_t>(seed + random.below(4)));
      program.push_back(static_cast<std::uint8_t>(random.below(3)));
      program.push_back(static_cast<std::uint8_t>(random.below(8)));
    }
    seeds["correction/program-" + std::to_string(seed)] = program;
  }
}

Bytes bytes_of(std::string_view text) { return {text.begin(), text.end()}; }

void add_networks(Seeds& seeds) {
  const char* const documents[] = {
      R"({"interfaces": ["a", "b"], "switches": [{"name": "s", "ports": 8}],
 "links": [["a", "s"], {"ends": ["b", "s"], "delay": "17ns"}]})",
      R"({"interfaces": ["a", {"name": "b"}, "c"], "switches": [{"name": "s", "ports": 3},
 {"name": "t", "ports": 2}], "links": [["a", "s"], ["b", "s"], ["s", "t"], ["t", "c"]]})",
      R"({"interfaces": ["a", "a"], "switches": [], "links": []})",
      R"({"interfaces": [], "interfaces": []})",
      R"({"links": [{"ends": ["x", 3], "delay": [[[]]]}], "switches": [{}], "interfaces": [1]})"};
  const char* const graphs[] = {
      "graph net { n0 -- a -- n1; n2 -- b -- n3; a -- b [delay=\"60ns\"]; }",
      "strict graph \"x y\" { node [shape=box]; a [type=interface]; s [ports=4] /* c */\n"
      "a -- s; b -- s // d\n c -- s }",
      "digraph { a -> b }",
      "graph { subgraph c { a } }",
      "graph { a:p -- b }",
      "graph { \"a \\\" b\" -- s; c -- s; label = x }"};
  for (std::size_t i = 0; i < std::size(documents); ++i)
    seeds["net_json/document-" + std::to_string(i)] = bytes_of(documents[i]);
  for (std::size_t i = 0; i < std::size(graphs); ++i)
    seeds["net_dot/graph-" + std::to_string(i)] = bytes_of(graphs[i]);
  for (const char* shape : {"single:3", "tree:3x3", "fat-tree:4", "mesh:2x2", "torus:3x3",
                            "random:9x4x5", "random:6x6x4", "tree:4x3"}) {
    const std::string dot = net::to_dot(net::generate(shape, 1).value());
    std::string name(shape);
    std::replace(name.begin(), name.end(), ':', '-');
    seeds["net_dot/" + name] = bytes_of(dot);
  }
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    test::Random random(seed);
    seeds["net_parameters/random-" + std::to_string(seed)] = bytes_of(
        "{\"ld\": \"" + std::to_string(random.below(60)) + "ns\", \"cp\": \"" +
        std::to_string(1 + random.below(12)) + ".5ns\", \"sd\": \"" +
        std::to_string(random.below(8)) + "ns\", \"rd\": \"" + std::to_string(random.below(250)) +
        "ns\", \"bl\": " + std::to_string(60 + random.below(60)) + ", \"ks\": " +
        std::to_string(30 + random.below(25)) + ", \"kg\": " + std::to_string(random.below(30)) +
        ", \"slot-flits\": " + std::to_string(200 + random.below(500)) + "}");
    Bytes schedule{static_cast<std::uint8_t>(seed % 4 + (seed > 8 ? 0x80 : 0))};
    for (unsigned i = 0; i < 90; ++i)
      schedule.push_back(static_cast<std::uint8_t>(random.below(16)));
    seeds["net_schedule/random-" + std::to_string(seed)] = schedule;
    const std::string text(documents[seed % std::size(documents)]);
    Bytes damaged = bytes_of(text);
    damaged[random.below(damaged.size())] = static_cast<std::uint8_t>(random.below(256));
    seeds["net_json/damaged-" + std::to_string(seed)] = damaged;
  }
  seeds["net_parameters/preset"] = bytes_of(R"({"preset": "ib-ndr", "cp": "1.28Gbps"})");
}

/// Tables that are in order, and the same with a byte changed.
void add_tables(Seeds& seeds) {
  const std::string tables[] = {
      "0cause_clock,cause_time,effect_clock,effect_time,min_delay,kind\na,100,b,90,5,p2p\n"
      "b,200,a,260,,rpc\n\"a, b\",1,a,\"2\"\r\n\na,300,b,290,0,\n",
      "0clock,begin,end,instance,kind,rank\n0,1,9,x,scan,2\n1,2,8,x,scan,1\n2,3,4,y,,\n",
      "0cause_clock,cause_time,effect_clock,effect_time,kind,instance,role,sync\n"
      "a,100,,,n_to_n,1,begin,true\nb,90,,,n_to_n,1,begin,\n,,a,120,n_to_n,1,end,0\n",
      "0{\"cause_clock\": 1, \"cause_time\": 5, \"effect_clock\": \"b\", \"effect_time\": 2}\n"
      "{\"instance\": 1, \"clock\": \"\\u00e9\", \"begin\": 1, \"end\": null, \"x\": [1, {}]}\n",
      "1clock,kind,domain,resolution_hz,first,last,granule\na,timer,d,1000,1,2000,1\nb,wall,d,,,,"
      "\n",
      "1clock,time,offset,half_width,round_trip,kept,flush_begin,flush_end\na,5,0,0,,,,\n"
      "b,5,-7,2.5,,,,\nb,5,-7,,5,1,,\nb,900,-9,1e3,,,,\nb,,,,,,10,20\n",
      "1{\"clock\": \"a\", \"corrected\": true}\n{\"clock\": \"b\", \"time\": 4, \"offset\": 1}\n"};
  for (std::size_t i = 0; i < std::size(tables); ++i) {
    seeds["edge_table/table-" + std::to_string(i)] = bytes_of(tables[i]);
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      test::Random random(seed * 100 + i);
      Bytes damaged = bytes_of(tables[i]);
      damaged[1 + random.below(damaged.size() - 1)] =
          static_cast<std::uint8_t>(seed % 2 == 0 ? random.below(256) : "\",\n-{"[random.below(5)]);
      seeds["edge_table/damaged-" + std::to_string(i) + "-" + std::to_string(seed)] = damaged;
    }
  }
}

/// An input with a few bytes changed, six times.
void add_damaged(Seeds& seeds, const fs::path& name, const Bytes& bytes, std::size_t from) {
  seeds[name] = bytes;
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    test::Random random(seed + 50);
    Bytes damaged = bytes;
    const std::size_t at = from + random.below(damaged.size() - from);
    damaged[at] = static_cast<std::uint8_t>(random.below(256));
    seeds[name.string() + "-damaged-" + std::to_string(seed)] = damaged;
  }
}

void add_texts(Seeds& seeds, const fs::path& folder) {
  add_damaged(seeds, "mapped_table/plain",
              bytes_of("c,t,other\na,100,x\n0,2,\"a, \"\"b\"\"\"\r\n\n\"x, \"\"y\"\"\",7,\n"), 0);
  add_damaged(seeds, "mapped_table/wide", bytes_of("u,t,c,c2\n,\"18\",\"a\",\n1,9,a,\n2,10,a"), 0);
  const std::string text = R"({"traceEvents":[{"ph":"X","ts":1,"dur":2,"name":"\u00e9"}]})";
  if (!json::save(folder / "packed", text, json::Packing::gzip)) return;
  const Bytes packed = test::read_bytes(folder / "packed");
  add_damaged(seeds, "packed_text/packed", packed, 0);
  add_damaged(seeds, "packed_text/twice", packed + packed, 10);
  seeds["packed_text/zeros"] = packed + Bytes(40, 0);
  seeds["packed_text/cut"] = {packed.begin(), packed.end() - 12};
  seeds["packed_text/plain"] = bytes_of(text);
  add_damaged(
      seeds, "vt_config/file",
      bytes_of("0# SYNC-MAX-MESSAGES 1\nLOGFILE-NAME \"my trace.stf\"\nsync-max-messages 17\r\n"
               "  SYNC-MAX-DURATION\t\"1m+30s\"\nSYNC-PERIOD 500l\nSYNCED-HOST off\n"
               "SYNCED-CLUSTER auto\nSYNC-X\nSYNCED-CLUSTER\n"),
      1);
  add_damaged(seeds, "vt_config/variables",
              bytes_of("1VT_SYNC_PERIOD=1s+\nENTRAIN_SYNC_PERIOD=\nVT_SYNCED_HOST=perhaps\n"
                       "ENTRAIN_RECORD_BUFFER=1e3M\nENTRAIN_SYNC_MAX_DURATION=-1\n@X=y\n"),
              1);
}

/// The files of a folder as one input.
Bytes joined_files(const fs::path& folder) {
  Bytes all;
  for (const std::string& name : test::entries_of(folder)) {
    all = all + (all.empty() ? Bytes{} : k_cut_bytes) + test::read_bytes(folder / name);
  }
  return all;
}

/// Whole files, and the same with a byte changed.
void add_recording(Seeds& seeds, const fs::path& name, const Bytes& bytes) {
  seeds[name] = bytes;
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    test::Random random(seed);
    Bytes damaged = bytes;
    damaged[random.below(damaged.size())] = static_cast<std::uint8_t>("0-9,.\"}"[random.below(7)]);
    seeds[name.string() + "-damaged-" + std::to_string(seed)] = damaged;
  }
}

/// A run as it is, and one with wrong clocks.
void add_synthetic(Seeds& seeds, const std::string& target, SynthFormat format,
                   std::uint64_t events, const fs::path& folder) {
  SynthOptions options;
  options.format = format;
  options.locations = 2;
  options.events = events;
  DistortOptions wrong;
  wrong.offset_s = 0.01;
  synth(folder / target, options).value();
  distort(folder / target, folder / (target + "-wrong"), wrong).value();
  add_recording(seeds, fs::path(target) / "right", joined_files(folder / target));
  add_recording(seeds, fs::path(target) / "wrong", joined_files(folder / (target + "-wrong")));
}

/// Spans of OTLP as Protobuf, with each framing.
void add_packed_spans(Seeds& seeds) {
  const auto field = [](char number, const std::string& bytes) {
    return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(bytes.size())} + bytes;
  };
  const auto request = [&](const std::string& host, const std::string& ids, char kind,
                           const std::string& time) {
    const std::string span = ids + "\x30" + kind + "\x39" + time + "\x39\x97\x17\x41" + time +
                             "\x40\x97\x17" + field(11, "\x09" + time + "\x39\x98\x17") +
                             field(9, field(1, "k") + field(2, field(1, "v")));
    return field(1, field(1, field(1, field(1, "host.name") + field(2, field(1, host)))) +
                        field(2, field(2, span)));
  };
  const std::string time("\0\x10\x20\x30\x40", 5), trace = field(1, std::string(16, '\x0A'));
  const std::string client = request("a", trace + field(2, "12345678"), '\3', time);
  const std::string server =
      request("b", trace + field(2, "23456789") + field(4, "12345678"), '\2', time);
  const auto after_size = [](const std::string& message, std::size_t zeros) {
    return std::string(zeros, '\0') + static_cast<char>(message.size()) + message;
  };
  add_recording(seeds, "spans/protobuf", bytes_of(client + server));
  add_recording(seeds, "spans/protobuf-varint",
                bytes_of(after_size(client, 0) + after_size(server, 0)));
  add_recording(seeds, "spans/protobuf-fixed32",
                bytes_of(after_size(client, 3) + after_size(server, 3)));
}

/// Two hosts with an event of a message each, and metadata as text and in packets.
void add_ctf(Seeds& seeds) {
  const auto number = [](std::uint64_t value, std::size_t width) {
    std::string bytes;
    for (std::size_t i = 0; i < width; ++i) bytes += static_cast<char>(value >> (8 * i));
    return bytes;
  };
  constexpr std::uint64_t k_begin = 1'700'000'000'000'000'000;
  const auto metadata = [&](const char* host, const char* frequency, std::uint64_t offset) {
    return std::string(
               "/* CTF 1.8 */\n"
               "typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n"
               "typealias integer { size = 64; align = 8; signed = true; } := int64_t;\n"
               "typealias integer { size = 64; align = 8; map = clock.m.value; } := stamp_t;\n"
               "trace { major = 1; minor = 8; byte_order = le; };\nenv { hostname = \"") +
           host + "\"; };\nclock { name = \"m\"; freq = " + frequency +
           "; offset = " + std::to_string(offset) +
           "; };\nstream { event.header := struct { uint8_t id; stamp_t timestamp; }; };\n"
           "event { name = \"ros2:rmw_publish\"; id = 0; "
           "fields := struct { int64_t timestamp; string name; }; };\n"
           "event { name = \"ros2:rmw_take\"; id = 1; "
           "fields := struct { int64_t source_timestamp; }; };\n";
  };
  const auto event = [&](char id, std::uint64_t count, std::uint64_t stamp) {
    return id + number(count, 8) + number(stamp, 8) + (id == 0 ? std::string("x\0", 2) : "");
  };
  const auto packet = [&](const std::string& text) {
    constexpr std::size_t k_header = 37;
    const std::string bits = number((k_header + text.size()) * 8, 4);
    return number(0x75d11d57, 4) + std::string(16, 'u') + number(0, 4) + bits + bits +
           std::string("\0\0\0\1\x8", 5) + text;
  };
  const std::string cut(k_cut, sizeof k_cut - 1);
  for (const char* const frequency : {"1000000000", "10000000"}) {
    const std::uint64_t scale = frequency == std::string("10000000") ? 100 : 1;
    const std::string a = metadata("a", frequency, k_begin / scale);
    const std::string b = metadata("b", frequency, k_begin / scale);
    std::string sends, receives;
    for (std::uint64_t i = 1; i < 5; ++i) {  // the clock of b is behind
      const std::uint64_t sent = 10'000 * i, received = i % 2 != 0 ? sent - 4'000 : sent + 9'000;
      sends += event('\0', sent, k_begin + i);
      receives += event('\1', received, k_begin + i);
      std::swap(sends, receives);
    }
    const std::string name = std::string("ctf_traces/hz-") + frequency;
    add_recording(seeds, name, bytes_of(a + cut + sends + cut + b + cut + receives));
    add_recording(seeds, name + "-packets",
                  bytes_of(packet(a.substr(0, 100)) + packet(a.substr(100)) + cut + sends + cut +
                           packet(b) + cut + receives));
  }
}

void add_recordings(Seeds& seeds, const fs::path& examples, const fs::path& folder) {
  const Bytes first = test::read_bytes(examples / "training" / "rank0.json");
  add_recording(seeds, "training_run/example",
                first + k_cut_bytes + test::read_bytes(examples / "training" / "rank1.json"));
  const Bytes halves =
      bytes_of(R"([{"ph":"B","cat":"kernel","name":"ncclDevKernel_AllReduce","pid":0,"tid":7,)"
               R"("ts":"10.5"},{"ph":"B","name":"x","pid":0,"tid":7,"ts":11},{"ph":"E","pid":0,)"
               R"("tid":7,"ts":12},{"ph":"E","pid":0,"tid":7,"ts":"90"}])");
  add_recording(seeds, "training_run/halves", halves + k_cut_bytes + halves);
  const Bytes ids =
      bytes_of(R"([{"ph":"b","cat":"kernel","id2":{"local":"0xa"},"pid":0,"ts":1000,)"
               R"("name":"ncclX_AllReduce"},{"ph":"b","cat":"kernel","id2":{"global":"0xb"},)"
               R"("scope":"s","pid":0,"ts":1020,"name":"ncclX_AllReduce"},{"ph":"e","ts":1050,)"
               R"("cat":"kernel","id2":{"local":"0xa"},"pid":0,"name":"ncclX_AllReduce"},)"
               R"({"ph":"e","cat":"kernel","id2":{"global":"0xb"},"scope":"s","pid":0,)"
               R"("ts":1090,"name":"ncclX_AllReduce"}])");
  add_recording(seeds, "training_run/ids", ids + k_cut_bytes + ids);
  add_synthetic(seeds, "training_run", SynthFormat::chrome, 80, folder);
  add_recording(seeds, "spans/zipkin", test::read_bytes(examples / "services" / "ascend.json"));
  add_recording(
      seeds, "spans/jaeger",
      bytes_of(R"({"data":[{"traceID":"a","spans":[{"traceID":"a","spanID":"1","startTime":900,)"
               R"("duration":50,"operationName":"x","processID":"p","references":[],"tags":[)"
               R"({"key":"span.kind","value":"client"}]},{"traceID":"a","spanID":"2",)"
               R"("startTime":700,"duration":20,"operationName":"x","processID":"q",)"
               R"("references":[{"refType":"CHILD_OF","traceID":"a","spanID":"1"}],"tags":[)"
               R"({"key":"span.kind","value":"server"}],"logs":[{"timestamp":705}]}],)"
               R"("processes":{"p":{"serviceName":"a"},"q":{"serviceName":"b"}}}]})"));
  add_recording(
      seeds, "spans/zipkin-1",
      bytes_of(R"([{"traceId":"a","id":"1","name":"x","timestamp":900,"duration":50,)"
               R"("annotations":[{"timestamp":900,"value":"cs","endpoint":{"serviceName":"a"}},)"
               R"({"timestamp":700,"value":"sr","endpoint":{"serviceName":"b"}},)"
               R"({"timestamp":720,"value":"ss","endpoint":{"serviceName":"b"}},)"
               R"({"timestamp":950,"value":"cr","endpoint":{"serviceName":"a"}}],)"
               R"("binaryAnnotations":[{"key":"lc","value":"y"}]}])"));
  add_recording(
      seeds, "spans/decimals",
      bytes_of(R"([{"traceId":"1","id":"1","kind":"CLIENT","timestamp":1.6900000000000005e15,)"
               R"("duration":"12.5","localEndpoint":{"serviceName":"a"}},{"traceId":"1","id":"2",)"
               R"("parentId":"1","kind":"SERVER","timestamp":"1690000000000001.25",)"
               R"("duration":0.5e1,"annotations":[{"timestamp":1690000000000002.0625}],)"
               R"("localEndpoint":{"serviceName":"b"}}])"));
  add_recording(
      seeds, "spans/milliseconds",
      bytes_of(R"({"traceID":"a","spanID":"1","startTime":1690000000000900,"duration":500,)"
               R"("startTimeMillis":1690000000000,"tags":[{"key":"span.kind","value":"client"}],)"
               R"("process":{"serviceName":"a"}}{"traceID":"a","spanID":"2","parentSpanID":"1",)"
               R"("startTimeMillis":1690000000007,"startTime":1690000000000800,"duration":5,)"
               R"("process":{"serviceName":"b"},"tags":[{"key":"span.kind","value":"server"}]})"));
  add_recording(
      seeds, "spans/places",
      bytes_of(R"([{"traceId":"1","id":"2","name":"get","timestamp":1000,"duration":600,)"
               R"("annotations":[{"timestamp":1000,"value":"cs","endpoint":{"serviceName":"a"}},)"
               R"({"timestamp":1100,"value":"note"},{"timestamp":1600,"value":"cr"},)"
               R"({"timestamp":900,"value":"sr","endpoint":{"serviceName":"b"}},)"
               R"({"timestamp":1400,"value":"ss"}],"binaryAnnotations":[]}])"));
  add_packed_spans(seeds);
  add_ctf(seeds);
  add_recording(seeds, "spans/table", test::read_bytes(examples / "services" / "calls.csv"));
  add_recording(seeds, "spans/table-lengths",
                bytes_of("traceID;spanID;parent;pod;start;duration_ms;kind\r\n"
                         "1;1;root;\"a\";2022-08-22 03:53:01.25+02:00;1.5;CLIENT\r\n"
                         "1;2;1;b;2022-08-22 03:53:01.249+02:00;1;SERVER\r\n"));
  add_recording(seeds, "spans/table-copies",
                bytes_of("trace,span,parent,host,start,end,duration\n"
                         "1,1,,a,1661140374351773094,1661140374362982609,11209\n"
                         "1,2,1,b,1661140374350773094,1661140374352982609,2209\n"));
  add_synthetic(seeds, "spans", SynthFormat::otlp, 80, folder);
  for (const auto& [name, bytes] : part_file_seeds()) {
    add_damaged(seeds, "part_files/" + name, bytes_of(bytes), 0);
  }
  const std::string nodes = "#Paraver (10/10/2025 at 12:30):900000_ns:2(1,1):1:2(1:1,1:2),1\n";
  add_recording(seeds, "paraver_trace/messages",
                bytes_of(nodes + "c:1:1:2:1:2\n"
                                 "1:1:1:1:1:0:70:1\n2:1:1:1:1:70:50000001:1\n"
                                 "3:1:1:1:1:70:90:2:1:2:1:10:30:8:7\n2:1:1:1:1:90:50000001:0\n"
                                 "3:2:1:2:1:800000:800100:1:1:1:1:400:800900:8:7\n"));
  add_recording(seeds, "paraver_trace/collectives",
                bytes_of(nodes + "c:1:1:2:1:2\n2:1:1:1:1:1:50000003:31\n2:2:1:2:1:1:50000003:31\n"
                                 "2:1:1:1:1:50:50000002:8:50100004:1\n2:1:1:1:1:90:50000002:0\n"
                                 "2:2:1:2:1:5:50000002:8:50100004:1\n2:2:1:2:1:20:50000002:0\n"
                                 "2:2:1:2:1:30:50000002:7:50100003:1:50100004:1\n"
                                 "2:2:1:2:1:70:50000002:0\n2:1:1:1:1:91:50000002:7:50100004:1\n"
                                 "2:1:1:1:1:99:50000002:0\n"));
  add_recording(seeds, "paraver_trace/tasks",
                bytes_of("#Paraver (x):50:0:2:1(1:0):2(2:0,1:0)\n3:0:1:1:1:20:30:0:2:1:2:5:9:1:1\n"
                         "i:1:2:3:1:4:1\n4:1:2:3\n1:0:2:2:1:5:40:3\n# x\n1:0:2:1:1:5:4"));
}

}  // namespace

Seeds seeds(const fs::path& examples) {
  Seeds result;
  const TempFolder scratch;
  for (const auto& folder : test::archives_under(examples)) {
    add_archive(result, folder.filename().string(), folder);
  }
  test::write_all_records_archive(
      scratch / "all", 1,
      {.events_per_location = 90, .base_time = 500, .side_files = false, .buffer_flushes = false});
  test::write_all_records_archive(
      scratch / "few", 2, {.events_per_location = 5, .side_files = false, .buffer_flushes = false});
  test::write_small_trace(scratch / "small", {.rounds = 3, .filler_pairs = 2});
  test::make_big_endian(scratch / "all/traces.otf2", scratch / "all-big-endian");
  for (const char* name : {"all", "few", "small", "all-big-endian"}) {
    add_archive(result, name, scratch / name);
  }
  const Bytes one = test::read_bytes(scratch / "small/traces/0.evt");
  add_two_chunks(result, one);
  result["correction/raw"] =
      Bytes{k_raw} + one + k_cut_bytes + test::read_bytes(scratch / "small/traces/1.evt");
  add_programs(result);
  add_networks(result);
  add_tables(result);
  add_texts(result, scratch.path());
  add_recordings(result, examples.parent_path(), scratch.path());
  return result;
}

}  // namespace entrain::fuzz
