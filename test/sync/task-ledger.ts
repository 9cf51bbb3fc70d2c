import { Violation } from './model.ts';

interface TaskLife {
  id: string;
  /** Acknowledged title and author by revision. */
  written: Map<number, { title: string; by: string }>;
  mayBePurged: boolean;
}

/** The acknowledged writes of tasks: a task has the content of the last one, and no write was applied twice. */
export class TaskLedger {
  private readonly lives = new Map<string, TaskLife>();

  /** @param task of the response to a write */
  acknowledged(task: any, by: string): void {
    const key = keyOf(task);
    const life = this.lives.get(key) ?? { id: task.id, written: new Map(), mayBePurged: false };
    this.lives.set(key, life);
    const before = life.written.get(task.revision);
    if (before)
      throw new Violation(
        `revision ${task.revision} of ${task.id} was acknowledged twice: to ${before.by} and to ${by}`,
        task.id,
      );
    life.written.set(task.revision, { title: task.title, by });
  }

  /** Tasks with this id may be purged from now on. */
  mayBePurged(id: string): void {
    for (const life of this.lives.values()) if (life.id === id) life.mayBePurged = true;
  }

  /** @param stored all tasks of the workspace */
  check(stored: readonly { id: string; created_at: string; revision: number; title: string }[]): void {
    const now = new Map(stored.map((task) => [keyOf(task), task]));
    for (const [key, { id, written, mayBePurged }] of this.lives) {
      const task = now.get(key);
      if (!task) {
        if (!mayBePurged) throw new Violation(`the task ${id} is lost`, id);
        this.lives.delete(key);
        continue;
      }
      const last = Math.max(...written.keys());
      if (task.revision < last) throw new Violation(`revision ${last} of ${id} is lost`, id);
      const title = written.get(task.revision)?.title ?? task.title;
      if (title !== task.title)
        throw new Violation(`${id} was acknowledged as ${title} and is ${task.title}`, id);
    }
  }
}

const keyOf = ({ id, created_at: createdAt }: { id: string; created_at: string }): string =>
  `${id} ${createdAt}`;
