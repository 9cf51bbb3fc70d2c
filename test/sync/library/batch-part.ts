/** A request of a batch. */
export interface BatchPart {
  method: string;
  path: string;
  body?: Record<string, any>;
  headers?: Record<string, string>;
}

/** A page of the events of a calendar. */
export const isPull = ({ method, path }: BatchPart): boolean => method === 'POST' && path.endsWith('/sync');
export const isRead = (part: BatchPart): boolean => part.method === 'GET' || isPull(part);
