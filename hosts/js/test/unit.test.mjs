// Units: neighbouring positions that every deal keeps together.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { composed, entries } from './entries.mjs';

const range = (count) => Array.from({ length: count }, (_, i) => i);
const sorted = (samples) => [...samples].sort((one, other) => one - other);

for (const [entry, { Sampler, SamedealError, order }] of Object.entries({ ...entries, ...composed })) {
  const refused = (call, kind, field, value) => {
    assert.throws(call, (error) => {
      assert(error instanceof SamedealError, String(error));
      assert.deepEqual([error.kind, error.field, error.value], [kind, field, value], error.message);
      return true;
    });
  };
  const ranks = (worldSize, make) => range(worldSize).map((rank) => make({ worldSize, rank }));

  describe(entry, () => {
    test('every rank takes whole units of neighbours', () => {
      for (const layout of ['strided', 'contiguous', 'rotated']) {
        for (const remainder of ['drop', 'pad', 'uneven']) {
          const options = { order: 'sequential', unit: 4, layout, remainder };
          const dealt = ranks(3, (place) => new Sampler(50, { ...options, ...place }));
          const seen = [];
          for (const sampler of dealt) {
            const samples = [...sampler];
            assert.equal(sampler.unit, 4);
            for (let at = 0; at < samples.length; at += 4) {
              const unit = samples.slice(at, at + 4);
              // A unit is consecutive, and begins at a multiple of 4. Units of padding continue with the first samples.
              if (at < samples.length - sampler.numPadding) assert.equal(unit[0] % 4, 0, `${layout} ${remainder}`);
              assert.deepEqual(
                unit,
                range(unit.length).map((i) => (unit[0] + i) % 50),
              );
              if (unit.length < 4) assert.equal(remainder, 'uneven');
            }
            seen.push(...samples);
          }
          const { numDropped } = dealt[0];
          const padding = dealt.reduce((sum, { numPadding }) => sum + numPadding, 0);
          const expected = { drop: [2, 0, 48], pad: [0, 10, 60], uneven: [0, 0, 50] }[remainder];
          assert.deepEqual([numDropped, padding, seen.length], expected);
          assert.deepEqual(sorted(new Set(seen)), range(50 - numDropped));
        }
      }
    });

    test('it is a part of the recipe, unless it is 1', () => {
      const sampler = new Sampler(40, { unit: 8n, worldSize: 2, seed: 3 });
      assert.deepEqual(JSON.parse(sampler.recipe).deal.unit, 8);
      const again = Sampler.fromRecipe(sampler.recipe);
      assert.deepEqual([again.unit, again.indices(), again.recipe], [8, sampler.indices(), sampler.recipe]);
      assert.deepEqual(Sampler.fromJSON(JSON.parse(JSON.stringify(sampler))).indices(), sampler.indices());
      assert.deepEqual(new Sampler(40, { unit: 1 }).recipe, new Sampler(40).recipe);
      assert.equal(new Sampler(40).unit, 1);
      assert.equal(Sampler.sharded([30, 20], { lanes: 2, unit: 5 }).unit, 5);
    });

    test('states are at the ends of units', () => {
      const options = { unit: 4, remainder: 'uneven', seed: 7 };
      const whole = [...new Sampler(103, options)];
      const state = new Sampler(103, { ...options, worldSize: 4 }).state(8);
      const rest = ranks(3, (place) => new Sampler(103, { ...options, ...place }));
      for (const sampler of rest) sampler.resume(state);
      assert.deepEqual(sorted(rest.flatMap((sampler) => [...sampler])), sorted(whole.slice(32)));
      refused(() => new Sampler(103, { ...options, worldSize: 4 }).state(6), 'out-of-range', 'taken', '6');
      refused(() => new Sampler(103, { ...options, unit: 5 }).resume(state), 'out-of-range', 'consumed', '32');
      refused(() => new Sampler(103, { unit: 4, consumed: 6 }), 'out-of-range', 'consumed', '6');
      assert.equal(new Sampler(103, { unit: 4, consumed: 103 }).length, 0);
    });

    test('what is no unit is refused', () => {
      for (const unit of [0, 2 ** 20 + 1, 2 ** 32, 2n ** 64n, -1]) {
        refused(() => new Sampler(10, { unit }), 'out-of-range', 'unit', String(BigInt(unit)));
      }
      assert.throws(() => new Sampler(10, { unit: 0 }), {
        message: 'unit is 0; allowed: 1 to 1048576',
        min: 1,
        max: 2 ** 20,
      });
      for (const unit of [1.5, '3', null, [2], Number.NaN, () => 3, true]) {
        assert.throws(
          () => new Sampler(10, { unit }),
          (error) => error instanceof SamedealError && error.kind === 'wrong-type' && error.field === 'unit',
        );
      }
      const rounds = Sampler.sharded([30, 20], { lanes: 2, unit: 5 });
      refused(() => rounds.round(0), 'contradiction', 'unit', '5');
    });

    test('the copies of a sample are on one rank', { skip: !(entry in composed) }, () => {
      const groups = order('feistel', { samples: 30, seed: 1 }).copies(8);
      const dealt = ranks(3, (place) => new Sampler(groups, { unit: 8, ...place }));
      const prompts = dealt.map((sampler) => {
        const samples = [...sampler];
        for (let at = 0; at < samples.length; at += 8) {
          assert.equal(new Set(samples.slice(at, at + 8)).size, 1);
        }
        return new Set(samples);
      });
      assert.deepEqual(
        prompts.map(({ size }) => size),
        [10, 10, 10],
      );
      assert.deepEqual(sorted(prompts.flatMap((each) => [...each])), range(30));
      // Without units, ranks get parts of groups.
      const torn = ranks(3, (place) => new Set(new Sampler(groups, place)));
      assert(torn.some(({ size }) => size > 10));
    });
  });
}
