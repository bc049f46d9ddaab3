// `npm run pictures` makes the pictures of the README from the built page.
import { at, test } from './page.ts';

const VIEWS = {
  start: {},
  checkpoint: {
    state:
      '{"samedeal":1,"kind":"sampler","recipe":{"order":{"name":"feistel","samples":50000,"seed":42}},"epoch":2,"consumed":12800}',
    recipe: '{"order":{"name":"feistel","samples":50000,"seed":42}}',
    ranks: '8',
    each: '32',
  },
} as const;

test.skip(!process.env.PICTURES, 'npm run pictures');
for (const [view, values] of Object.entries(VIEWS)) {
  test(`picture of ${view}`, async ({ page }) => {
    await page.setViewportSize({ width: 1280, height: 860 });
    await page.goto(at(view, values));
    await page.screenshot({ path: `pictures/${view}.png` });
  });
}
