import { Global, Injectable, Module } from '@nestjs/common';
import { DEFAULT_LIMIT, MAX_LIMIT } from '../paging/page.dto.js';

/** What clients ask about before they show a button; false until a domain says that the deployment has it. */
const ASKED_ABOUT = ['assistant', 'calls', 'docx_export', 'livestream', 'mail'];

/** What this deployment offers, as `GET /tenant` tells clients: each domain registers its part at start. */
@Injectable()
export class Deployment {
  private readonly offered = new Map<string, boolean>(ASKED_ABOUT.map((name) => [name, false]));
  private readonly bounds = new Map<string, number>([
    ['page_size_default', DEFAULT_LIMIT],
    ['page_size_max', MAX_LIMIT],
  ]);

  /** Says whether the deployment has something that depends on its configuration. */
  feature(name: string, available: boolean): void {
    this.offered.set(name, available);
  }

  /** Names a limit that clients should respect before they send. @param name with its unit, e.g. `logo_bytes` */
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

@Global()
@Module({ providers: [Deployment], exports: [Deployment] })
export class DeploymentModule {}
