/** Examples of blends. */
export const BLENDS: readonly [string, string][] = [
  [
    'Three sources',
    '{"order":{"name":"blend","samples":20000,"seed":42,"sources":[{"name":"web","weight":7,"samples":10000},{"name":"code","weight":2,"samples":2000},{"name":"maths","weight":1,"samples":500}]},"deal":{"world_size":8}}',
  ],
  [
    'Weights change',
    '{"order":{"name":"blend","samples":20000,"seed":42,"sources":[{"name":"web","weight":7,"samples":10000},{"name":"code","weight":2,"samples":2000},{"name":"maths","weight":1,"samples":500}],"stages":[{"from":12000,"weights":[2,4,4]}]},"deal":{"world_size":8}}',
  ],
  [
    'Six sources, exact',
    '{"order":{"name":"blend-exact","samples":60000,"seed":42,"sources":[{"name":"web","weight":45,"samples":40000},{"name":"books","weight":20,"samples":9000},{"name":"code","weight":16,"samples":8000},{"name":"papers","weight":10,"samples":3000},{"name":"maths","weight":6,"samples":1500},{"name":"dialogue","weight":3,"samples":700}]},"deal":{"world_size":16}}',
  ],
  [
    '10¹² samples',
    '{"order":{"name":"blend","samples":1000000000000,"seed":42,"sources":[{"name":"web","weight":731,"samples":800000000000},{"name":"code","weight":188,"samples":90000000000},{"name":"maths","weight":81,"samples":6000000000}]},"deal":{"world_size":4096}}',
  ],
];

/** The recipe of the page, if it has a blend; else the first example. */
export const blendOf = (recipe: string): string =>
  /"name"\s*:\s*"blend/.test(recipe) ? recipe : (BLENDS[0]?.[1] ?? '');

/** Examples of datasets that are stored by label. */
export const LABELLED: readonly [string, string][] = [
  [
    '10 labels',
    '{"samples":100000,"labels":10,"files":50,"batch":64,"seed":42,"epoch":0,"lanes":64,"shuffle_window":256,"buffer":1000,"files_first":false}',
  ],
  [
    'Files shuffled first',
    '{"samples":100000,"labels":10,"files":50,"batch":64,"seed":42,"epoch":0,"lanes":64,"shuffle_window":256,"buffer":1000,"files_first":true}',
  ],
  [
    '1,000 labels of ImageNet',
    '{"samples":1281167,"labels":1000,"files":1024,"batch":256,"seed":42,"epoch":0,"lanes":64,"shuffle_window":256,"buffer":10000,"files_first":true}',
  ],
  [
    '10¹² samples',
    '{"samples":1000000000000,"labels":8,"files":10000,"batch":1024,"seed":42,"epoch":0,"lanes":64,"shuffle_window":256,"buffer":10000,"files_first":true}',
  ],
];
