import { Injectable } from '@nestjs/common';
import { DEFAULT_LIMIT, MAX_LIMIT } from '../paging/page.dto.js';

/** Features that clients check before they offer them. False until a domain registers the feature. */
const OPTIONAL_FEATURES = ['assistant', 'calls', 'docx_export', 'livestream', 'mail'];

/** The features and limits of this deployment, as `GET /tenant` returns them. Each domain registers its part at start. */
@Injectable()
export class Deployment {
  private readonly offered = new Map<string, boolean>(OPTIONAL_FEATURES.map((name) => [name, false]));
  private readonly bounds = new Map<string, number>([
    ['page_size_default', DEFAULT_LIMIT],
    ['page_size_max', MAX_LIMIT],
  ]);

  /** Registers whether the configuration enables a feature. */
  feature(name: string, available: boolean): void {
    this.offered.set(name, available);
  }

  /** Registers a limit that clients should check before a request. @param name with its unit, e.g. `logo_bytes` */
  limit(name: string, value: number): void {
    this.bounds.set(name, value);
  }

  get features(): Record<string, boolean> {
    return sorted(this.offered);
  }

  get limits(): Record<string, number> {
    return sorted(this.bounds);
  }
}

function sorted<V>(map: Map<string, V>): Record<string, V> {
  return Object.fromEntries([...map].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
