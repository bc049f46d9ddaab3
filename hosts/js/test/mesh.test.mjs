// Meshes and launchers. The golden cases have the expected numbers.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, test } from 'node:test';
import { inspect } from 'node:util';
import { detectRank, Mesh } from 'samedeal';
import { NOT_32_BITS, NOT_WHOLE, refused, wrong } from './values.mjs';

describe('Mesh', () => {
  test('tensor and context peers get the same, data ranks different samples', () => {
    const mesh = new Mesh(8, { dp: 2, tp: 2, cp: 2 }, ['dp']);
    assert.equal(mesh.dataWorldSize, 2);
    for (let rank = 0; rank < 8; rank++) {
      assert.equal(mesh.dataRank(rank), rank >> 2);
      const place = mesh.coordinates(rank);
      assert.deepEqual(place, { dp: rank >> 2, tp: (rank >> 1) & 1, cp: rank & 1 });
      assert.deepEqual(Object.keys(place), ['dp', 'tp', 'cp']);
      assert.equal(mesh.rankAt(place), rank);
      assert.deepEqual([...mesh.peers(BigInt(rank))], rank < 4 ? [0, 1, 2, 3] : [4, 5, 6, 7]);
    }
    assert.equal(mesh.rankAt({ cp: 1n, tp: 0, dp: 1 }), 5);
  });

  test('two data axes multiply', () => {
    const mesh = new Mesh(12, { replicate: 2, shard: 3, tp: 2 }, ['shard', 'replicate']);
    assert.deepEqual([mesh.dataWorldSize, mesh.dataRank(11), mesh.shard], [6, 5, ['replicate', 'shard']]);
  });

  test('the properties, and the text, are those of the call', () => {
    const mesh = new Mesh(4n, { dp: 2, tp: 2n }, ['dp']);
    assert.deepEqual([mesh.worldSize, mesh.axes, mesh.shard], [4, { dp: 2, tp: 2 }, ['dp']]);
    assert.equal(inspect(mesh), 'Mesh(4, {"dp":2,"tp":2}, ["dp"])');
    const again = new Function('Mesh', `return new ${mesh}`)(Mesh);
    assert.deepEqual([...again.peers(3)], [...mesh.peers(3)]);
    mesh.dispose();
    assert.throws(() => mesh.dataRank(0), { message: 'this mesh has been disposed of' });
  });

  test('names of every kind', () => {
    const axes = Object.fromEntries([
      ['__proto__', 2],
      ['', 1],
      ['π'.repeat(300), 2],
    ]);
    const mesh = new Mesh(4, axes, ['__proto__']);
    assert.equal(mesh.dataWorldSize, 2);
    assert.deepEqual(
      mesh.coordinates(3),
      Object.fromEntries(Object.keys(axes).map((name, i) => [name, i === 1 ? 0 : 1])),
    );
    assert.equal(mesh.rankAt(mesh.coordinates(3)), 3);
  });

  test('contradictions show the arithmetic', () => {
    assert.throws(() => new Mesh(8, { dp: 2, tp: 3 }, ['dp']), { kind: 'contradiction', field: 'axes', value: /= 6/ });
    assert.equal(new Mesh(1, {}, []).dataWorldSize, 1);
  });

  test('bad input', () => {
    const mesh = new Mesh(4, { dp: 2, tp: 2 }, ['dp']);
    for (const [field, outside, call] of [
      ['world_size', [0, ...NOT_32_BITS], (value) => new Mesh(value, { dp: 2 }, [])],
      ['axes', [0, ...NOT_32_BITS], (value) => new Mesh(2, { dp: value }, [])],
      ['rank', [4, ...NOT_32_BITS], (value) => mesh.dataRank(value)],
      ['rank', [4, ...NOT_32_BITS], (value) => mesh.coordinates(value)],
      ['rank', [4, ...NOT_32_BITS], (value) => mesh.peers(value)],
      ['coordinates', [2, ...NOT_32_BITS], (value) => mesh.rankAt({ dp: value, tp: 0 })],
    ]) {
      for (const value of NOT_WHOLE) refused(() => call(value), wrong(value), field);
      for (const value of outside) refused(() => call(value), 'out-of-range', field);
    }
    for (const value of [undefined, null, 3, 'dp', [2], Uint32Array.of(2)]) {
      refused(() => new Mesh(2, value, []), wrong(value), 'axes');
      refused(() => mesh.rankAt(value), wrong(value), 'coordinates');
    }
    for (const value of [undefined, null, 3, 'dp', {}, [3], [null]]) {
      refused(() => new Mesh(2, { dp: 2 }, value), wrong(value), 'shard');
    }
    refused(() => new Mesh(2, { dp: 2 }, ['Dp']), 'unknown-name', 'shard');
    assert.throws(() => new Mesh(1, {}, ['dp']), { field: 'shard', allowed: 'no name, there are no axes' });
    assert.throws(() => new Mesh(1, {}, []).rankAt({ dp: 0 }), { allowed: 'no name, there are no axes' });
    for (const name of ['0', '12', '007']) refused(() => new Mesh(2, { [name]: 2 }, []), 'out-of-range', 'axes');
    const many = Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`axis ${i}`, 1]));
    refused(() => new Mesh(1, many, []), 'out-of-range', 'axes');
    refused(() => mesh.rankAt({ dp: 0 }), 'missing', 'coordinates');
    refused(() => mesh.rankAt({ dp: 0, tp: 0, cp: 0 }), 'unknown-name', 'coordinates');
    refused(() => new Mesh(2 ** 21, { dp: 1, tp: 2 ** 21 }, ['dp']).peers(0), 'out-of-range', 'axes');
    assert.equal(mesh.dataRank(3), 1);
  });
});

describe('detectRank', () => {
  test('from the variables of a launcher', () => {
    const environment = { RANK: '5', WORLD_SIZE: '8', LOCAL_RANK: '1', LOCAL_WORLD_SIZE: '4', HOME: '/' };
    const { rank, worldSize, localRank, localWorldSize, launcher, used, warnings } = detectRank({ environment });
    assert.deepEqual([rank, worldSize, localRank, localWorldSize, launcher, warnings], [5, 8, 1, 4, 'torchrun', []]);
    assert(used.includes('RANK=5') && used.includes('WORLD_SIZE=8'));
    const told = detectRank({ rank: 2n, worldSize: 3, environment });
    assert.deepEqual([told.rank, told.worldSize, told.launcher], [2, 3, 'explicit']);
    assert.match(told.warnings.join(), /^not used: RANK=5, WORLD_SIZE=8;/);
    const alone = detectRank({ environment: {} });
    assert.deepEqual([alone.rank, alone.worldSize, alone.localRank, alone.launcher], [0, 1, undefined, 'none']);
  });

  test('from this process, and nothing but the variables that launchers set', () => {
    const text = "import { detectRank } from 'samedeal'; console.log(detectRank().rank);";
    const env = { ...process.env, RANK: '3', WORLD_SIZE: '4', LONG: 'x'.repeat(1 << 16) };
    const output = execFileSync(process.execPath, ['--input-type=module', '-e', text], {
      env,
      cwd: import.meta.dirname,
    });
    assert.equal(String(output), '3\n');
    const asked = [];
    const environment = new Proxy({}, { get: (_, name) => void asked.push(name) });
    detectRank({ environment });
    assert(asked.includes('RANK') && !asked.includes('HOME') && asked.length < 40);
  });

  test('bad input', () => {
    const as = (environment) => () => detectRank({ environment });
    refused(as({ RANK: 'x', WORLD_SIZE: '2' }), 'wrong-type', 'RANK');
    refused(as({ RANK: '2', WORLD_SIZE: '2' }), 'out-of-range', 'RANK');
    refused(as({ RANK: '0' }), 'missing', 'WORLD_SIZE');
    refused(as({ RANK: 3, WORLD_SIZE: '4' }), 'wrong-type', 'RANK');
    refused(as({ RANK: '9'.repeat(1 << 25), WORLD_SIZE: '2' }), 'out-of-range', 'RANK');
    refused(as({ RANK: `\ud800${'🂡'.repeat(100)}`, WORLD_SIZE: '2' }), 'wrong-type', 'RANK');
    for (const environment of [null, 3, 'RANK=0', ['RANK=0']]) refused(as(environment), 'wrong-type', 'environment');
    for (const [field, option] of [
      ['rank', 'rank'],
      ['world_size', 'worldSize'],
    ]) {
      const call = (value) => () => detectRank({ rank: 0, worldSize: 1, [option]: value, environment: {} });
      for (const value of NOT_WHOLE) refused(call(value), wrong(value), field);
      for (const value of NOT_32_BITS) refused(call(value), 'out-of-range', field);
    }
    refused(() => detectRank({ rank: 0, environment: {} }), 'missing', 'world_size');
    refused(() => detectRank({ Rank: 0 }), 'unknown-name', 'options');
  });
});
