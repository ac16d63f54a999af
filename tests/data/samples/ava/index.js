/** What a task gives, asked again after each failure, `times` times at most. */
export async function retried(task, times) {
  for (let left = times; ; left -= 1) {
    try {
      return await task();
    } catch (error) {
      if (left <= 1) throw error;
    }
  }
}
