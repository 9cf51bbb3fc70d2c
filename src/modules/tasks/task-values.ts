/** Statuses and priorities as clients name them; their index is what is stored. */
export const STATUSES = ['open', 'in_progress', 'done', 'cancelled'] as const;
export const PRIORITIES = ['none', 'low', 'normal', 'medium', 'high', 'urgent', 'critical'] as const;

export type TaskStatus = (typeof STATUSES)[number];
export type TaskPriority = (typeof PRIORITIES)[number];
