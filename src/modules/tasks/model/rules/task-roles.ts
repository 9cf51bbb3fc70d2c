import type { TaskRole } from '../../task.entity.js';

/** Whether a role in a task folder, or in a task, is one that writes. @param role null without access */
export const mayWrite = (role: TaskRole | null): boolean => role !== null && role !== 'viewer';
