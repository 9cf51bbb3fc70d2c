import { Global, Module } from '@nestjs/common';
import { AuditPersonalData } from './audit/audit-personal-data.js';
import { AuditReader } from './audit/audit-reader.js';
import { Audit } from './audit/audit.js';
import { IdempotentWrites } from './concurrency/idempotency.js';
import { Deployment } from './deployment/deployment.js';
import { DocxConverter } from './docx/docx-converter.js';
import { HtmlPolicy } from './html/html-policy.js';
import { Images } from './images/images.js';
import { Notifications } from './notifications/notifications.js';
import { OutboundHttp } from './outbound/outbound-http.js';
import { Cursors } from './paging/cursors.js';
import { PersonalData } from './personal-data/personal-data.js';
import { PersonalRows } from './personal-data/personal-rows.js';
import { RequestPersonalData } from './personal-data/request-personal-data.js';
import { GuessLocks } from './rate-limits/guess-locks.js';
import { RateLimits } from './rate-limits/rate-limits.js';
import { RequestLimiter } from './rate-limits/request-limiter.js';
import { ContentCounts } from './references/content-counts.js';
import { ReferenceTitles } from './references/reference-titles.js';
import { RelatedItems } from './references/related-items.js';

const SERVICES = [
  Audit,
  AuditReader,
  ContentCounts,
  Cursors,
  Deployment,
  DocxConverter,
  GuessLocks,
  HtmlPolicy,
  IdempotentWrites,
  Images,
  Notifications,
  OutboundHttp,
  PersonalData,
  PersonalRows,
  RateLimits,
  ReferenceTitles,
  RelatedItems,
  RequestLimiter,
];

/**
 * Services that every domain may inject. Parts of the platform that must start or stop before others have a module of
 * their own.
 */
@Global()
@Module({ providers: [...SERVICES, AuditPersonalData, RequestPersonalData], exports: SERVICES })
export class PlatformModule {}
