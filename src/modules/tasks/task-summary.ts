/** A task without what may be long in it: its JSON without the description. */
export function taskSummary(task: string): string {
  const { description: _description, ...summary } = JSON.parse(task) as Record<string, unknown>;
  return JSON.stringify(summary);
}
