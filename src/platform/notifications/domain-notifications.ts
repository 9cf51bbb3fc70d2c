import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Statement } from '../database/statement.js';
import { ReferenceTitles, titlesBy } from '../references/reference-titles.js';
import type { NotificationType } from './notification-type.js';
import { Notifications } from './notifications.js';

/** Base of the notifications of a domain: registers their types, and the titles that they show. */
@Injectable()
export abstract class DomainNotifications implements OnModuleInit {
  protected abstract readonly types: readonly NotificationType[];
  /** Statements for `titlesBy`, by the kind of the subject. */
  protected readonly titles: Readonly<Record<string, Statement<{ id: string; title: string }>>> = {};

  constructor(
    protected readonly notifications: Notifications,
    private readonly references: ReferenceTitles,
  ) {}

  onModuleInit(): void {
    this.notifications.register(...this.types);
    for (const [kind, statement] of Object.entries(this.titles))
      this.references.register(kind, titlesBy(statement));
  }
}
