/**
 * Calls `work` with each number below `count`, for `most` of them at a time. After a failure, no more is begun, and the
 * failure is thrown when nothing runs any more.
 */
export async function atATime(count: number, most: number, work: (i: number) => Promise<void>): Promise<void> {
  let next = 0;
  const some = async () => {
    try {
      while (next < count) await work(next++);
    } catch (error) {
      next = count;
      throw error;
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: Math.min(most, count) }, some));
  for (const outcome of ends) if (outcome.status === 'rejected') throw outcome.reason;
}
