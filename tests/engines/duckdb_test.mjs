// SPDX-License-Identifier: BSD-3-Clause
// Spans in a data base: edges by SQL, clocks by entrain, common times by an as-of join. They must
// be those that entrain correct writes.
//
// duckdb_test.mjs ENTRAIN FOLDER: the folder holds files of OTLP JSON.
import assert from "node:assert";
import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";

const [entrain, folder] = process.argv.slice(2);
const at = (name) => join(folder, name);
const run = (...words) => execFileSync(entrain, words, { stdio: ["ignore", "ignore", "inherit"] });
const files = readdirSync(folder).filter((name) => name.endsWith(".jsonl")).map(at);

const database = await (await DuckDBInstance.create(":memory:")).connect();
const query = async (sql) => (await database.runAndReadAll(sql)).getRows();

/// Table of the spans of some files.
const readSpans = (table, pattern) => query(`
  CREATE TABLE ${table} AS
  WITH resources AS (SELECT unnest(resourceSpans) AS r FROM read_json('${pattern}',
                       format = 'newline_delimited', maximum_object_size = 100000000)),
       scopes AS (SELECT list_filter(r.resource.attributes,
                                     lambda a: a.key = 'host.name')[1].value.stringValue AS host,
                         unnest(r.scopeSpans) AS scope FROM resources),
       all_spans AS (SELECT host, unnest(scope.spans) AS s FROM scopes)
  SELECT host, s.traceId AS trace, s.spanId AS id, s.parentSpanId AS parent, s.kind AS kind,
         s.startTimeUnixNano::BIGINT AS begun, s.endTimeUnixNano::BIGINT AS ended,
         row_number() OVER () AS number
  FROM all_spans`);

/// The times of spans, mapped by segments of clocks (name, since, tick, offset, drift).
const mapped = (segments) => `
  SELECT s.id,
         s.begun + coalesce(b."offset" + round_even(b.drift * (s.begun - b.tick), 0)::BIGINT, 0),
         s.ended + coalesce(e."offset" + round_even(e.drift * (s.ended - e.tick), 0)::BIGINT, 0)
  FROM spans s ASOF LEFT JOIN ${segments} b ON s.host = b.clock AND s.begun >= b.since
               ASOF LEFT JOIN ${segments} e ON s.host = e.clock AND s.ended >= e.since
  ORDER BY s.id`;

await readSpans("spans", at("*.jsonl"));
await query(`
  COPY (SELECT cause_clock, cause_time, effect_clock, effect_time FROM (
          SELECT p.host AS cause_clock, p.begun AS cause_time,
                 c.host AS effect_clock, c.begun AS effect_time, c.number, 0 AS is_end
          FROM spans c JOIN spans p ON c.trace = p.trace AND c.parent = p.id
          WHERE c.host <> p.host
          UNION ALL
          SELECT c.host, c.ended, p.host, p.ended, c.number, 1
          FROM spans c JOIN spans p ON c.trace = p.trace AND c.parent = p.id
          WHERE c.host <> p.host AND p.kind = 3 AND c.kind = 2)
        ORDER BY number, is_end) TO '${at("edges.csv")}' (HEADER)`);
await query(`
  COPY (SELECT host AS clock, 'wall' AS kind, min(begun) AS first, max(ended) AS last
        FROM spans GROUP BY host ORDER BY min(number)) TO '${at("edges.clocks.csv")}' (HEADER)`);
run("align", at("edges.csv"), "-o", at("aligned"));
await query(`
  CREATE TABLE aligned AS
  SELECT clock, "offset", tick, if(n = 1, 0, tick) AS since,
         (next_offset - "offset")::DOUBLE / (next_tick - tick)::DOUBLE AS drift
  FROM (SELECT *, row_number() OVER w AS n, lead(tick) OVER w AS next_tick,
               lead("offset") OVER w AS next_offset
        FROM read_csv('${at("aligned/maps.csv")}',
                      types = {'clock': 'VARCHAR', 'tick': 'BIGINT', 'offset': 'BIGINT'})
        WINDOW w AS (PARTITION BY clock ORDER BY tick))
  WHERE next_tick IS NOT NULL`);

run("summarise", ...files, "-o", at("all.edges"));
run("fit", at("all.edges"), "-o", at("run.clocks"), "--csv", at("clocks.csv"));
await query(`CREATE TABLE fitted AS SELECT * FROM read_csv('${at("clocks.csv")}',
  types = {'clock': 'VARCHAR', 'since': 'BIGINT', 'tick': 'BIGINT', 'offset': 'BIGINT',
           'drift': 'DOUBLE'})`);

run("correct", ...files, "-o", at("corrected"));
await readSpans("corrected", at("corrected/*.jsonl"));
const expected = await query("SELECT id, begun, ended FROM corrected ORDER BY id");
const before = await query("SELECT id, begun, ended FROM spans ORDER BY id");
assert.ok(expected.length > 1000);
assert.notDeepStrictEqual(before, expected);
assert.deepStrictEqual(await query(mapped("fitted")), expected, "times by the table of fit");
assert.deepStrictEqual(await query(mapped("aligned")), expected, "times by edges of SQL");
console.log(`${expected.length} spans have the times of entrain correct`);
