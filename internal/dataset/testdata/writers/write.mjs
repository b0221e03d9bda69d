// Writes the same rows with DuckDB and with hyparquet-writer, so that the reader of Parquet is
// not tried on files of one library alone:
//
//	npm install && node write.mjs FOLDER
//
// The rows are those of theRows in writers_test.go.
import { gzipSync } from 'node:zlib'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { parquetWriteFile } from 'hyparquet-writer'

const folder = process.argv[2]
const count = 40

// DuckDB, once for each compression, and once in the second version of the format.
const rows = `
  SELECT 'id-' || (i % 7) AS id, CAST(i * 8589934592 + i AS BIGINT) AS n, CAST(i AS INTEGER) AS small,
    CAST(i AS DOUBLE) / 8 AS f, CAST(i AS FLOAT) / 4 AS g, i % 3 = 0 AS yes,
    CASE WHEN i % 4 = 0 THEN NULL ELSE 'é' || i END AS maybe,
    list_transform(range(i % 3), k -> 'a' || i || '-' || k) AS answers,
    {'bytes': unhex(printf('%02xff00', i)), 'path': CASE WHEN i % 2 = 1 THEN NULL ELSE 'q' || i || '.png' END} AS image,
    list_transform(range(i % 3), k -> {'label': chr(CAST(65 + k AS INTEGER)), 'text': CASE WHEN k = 1 THEN NULL ELSE 't' || i END}) AS choices
  FROM range(${count}) t(i)`
const db = await (await DuckDBInstance.create(':memory:', { threads: '1' })).connect()
const copy = (sql, name, options) => db.run(`COPY (${sql}) TO '${join(folder, name)}' (FORMAT parquet, ${options})`)
await copy(rows, 'duckdb-snappy.parquet', 'COMPRESSION snappy')
await copy(rows, 'duckdb-gzip.parquet', 'COMPRESSION gzip')
await copy(rows, 'duckdb-zstd-v2.parquet', 'COMPRESSION zstd, PARQUET_VERSION v2')
await copy(rows, 'duckdb-plain.parquet', 'COMPRESSION uncompressed')
await copy('SELECT i AS n, i % 5 AS m FROM range(4200) t(i)', 'duckdb-groups.parquet', 'COMPRESSION zstd, ROW_GROUP_SIZE 2048')
await copy(
  `SELECT DATE '2026-02-03' AS day, TIMESTAMP '2026-02-03 04:05:06.789' AS at, TIMESTAMPTZ '2026-02-03 04:05:06+00' AS atz,
    TIME '04:05:06.5' AS clock, CAST(-12.345 AS DECIMAL(9, 3)) AS price, CAST('123456789012345678901234.5' AS DECIMAL(30, 1)) AS large,
    UUID '01234567-89ab-cdef-0123-456789abcdef' AS uuid, MAP {'a': 1, 'b': 2} AS scores, CAST(200 AS UTINYINT) AS u8, CAST(-3 AS TINYINT) AS i8,
    CAST(18446744073709551615 AS UBIGINT) AS u64, [[1, 2], [], NULL] AS nested, CAST('nan' AS DOUBLE) AS nan, CAST('-inf' AS DOUBLE) AS inf,
    CAST([] AS VARCHAR[]) AS empty, CAST(NULL AS VARCHAR[]) AS none, '{"a": 1}'::JSON AS json`,
  'duckdb-types.parquet', 'COMPRESSION snappy')
db.closeSync()

// hyparquet-writer: several row groups, dictionaries, snappy, gzip and none.
const range = [...Array(count).keys()]
const columnData = [
  { name: 'id', data: range.map(i => `id-${i % 7}`) },
  { name: 'n', data: range.map(i => BigInt(i) * 8589934592n + BigInt(i)) },
  { name: 'small', data: range },
  { name: 'f', data: range.map(i => i / 8) },
  { name: 'g', data: range.map(i => i / 4) },
  { name: 'yes', data: range.map(i => i % 3 === 0) },
  { name: 'maybe', data: range.map(i => (i % 4 === 0 ? null : `é${i}`)) },
  { name: 'answers', data: range.map(i => [...Array(i % 3).keys()].map(k => `a${i}-${k}`)) },
  { name: 'image', data: range.map(i => ({ bytes: new Uint8Array([i, 255, 0]), path: i % 2 === 1 ? null : `q${i}.png` })) },
  { name: 'choices', data: range.map(i => [...Array(i % 3).keys()].map(k => ({ label: String.fromCharCode(65 + k), text: k === 1 ? null : `t${i}` }))) },
]
const text = { type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'OPTIONAL' }
const schema = [
  { name: 'root', num_children: columnData.length },
  { name: 'id', ...text },
  { name: 'n', type: 'INT64', repetition_type: 'REQUIRED' },
  { name: 'small', type: 'INT32', repetition_type: 'REQUIRED' },
  { name: 'f', type: 'DOUBLE', repetition_type: 'OPTIONAL' },
  { name: 'g', type: 'FLOAT', repetition_type: 'OPTIONAL' },
  { name: 'yes', type: 'BOOLEAN', repetition_type: 'REQUIRED' },
  { name: 'maybe', ...text },
  { name: 'answers', converted_type: 'LIST', repetition_type: 'OPTIONAL', num_children: 1 },
  { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
  { name: 'element', ...text },
  { name: 'image', repetition_type: 'OPTIONAL', num_children: 2 },
  { name: 'bytes', type: 'BYTE_ARRAY', repetition_type: 'OPTIONAL' },
  { name: 'path', ...text },
  { name: 'choices', converted_type: 'LIST', repetition_type: 'OPTIONAL', num_children: 1 },
  { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
  { name: 'element', repetition_type: 'OPTIONAL', num_children: 2 },
  { name: 'label', ...text },
  { name: 'text', ...text },
]
const compressors = { GZIP: bytes => gzipSync(bytes) }
for (const codec of ['SNAPPY', 'GZIP', 'UNCOMPRESSED']) {
  parquetWriteFile({ filename: join(folder, `hyparquet-${codec.toLowerCase()}.parquet`), columnData, schema, codec, compressors, rowGroupSize: 17, createdBy: 'hyparquet-writer 0.17.0' })
}
