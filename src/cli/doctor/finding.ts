/** The result of one check. */
export interface Finding {
  /** Area of the installation, e.g. `database`. */
  check: string;
  status: 'ok' | 'warning' | 'error';
  /** The observed state, one sentence. Contains no secret. */
  message: string;
  /** The remedy; missing for `ok`. */
  action?: string;
}

/** Makes the findings of one area. */
export class Area {
  constructor(private readonly check: string) {}

  ok(message: string): Finding {
    return { check: this.check, status: 'ok', message };
  }

  warning(message: string, action: string): Finding {
    return { check: this.check, status: 'warning', message, action };
  }

  error(message: string, action: string): Finding {
    return { check: this.check, status: 'error', message, action };
  }
}

/** A message for the operator without addresses with passwords. */
export const reasonOf = (error: unknown): string => {
  const { code, message } = error as { code?: string; message?: string };
  // The message of an error for several addresses is empty.
  const text = message?.split('\n')[0] || code || String(error);
  return text.replaceAll(/\/\/[^\s/@]*@/g, '//');
};

/** Errors that name only what failed, such as those of `fetch`, have the reason in their cause. */
export const causeOf = (error: unknown): string => reasonOf((error as Error).cause ?? error);

/** A duration for the operator. @param seconds not negative */
export function duration(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} minutes`;
  if (seconds < 172_800) return `${Math.round(seconds / 3_600)} hours`;
  return `${Math.round(seconds / 86_400)} days`;
}
