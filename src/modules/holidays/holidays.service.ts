import { Injectable } from '@nestjs/common';
import { Audit } from '../../platform/audit/audit.js';
import type { RequestContext } from '../../platform/context/request-context.js';
import { Db } from '../../platform/database/db.js';
import { NOW, rowsOf } from '../../platform/database/rows.js';
import { workspace } from '../../platform/database/statement.js';
import type { Reader, Tx } from '../../platform/database/tx.js';
import { fieldError } from '../../platform/http/errors.js';
import { HOLIDAY_TYPES } from './catalogue/catalogue-file.js';
import { HolidayCatalogue } from './catalogue/holiday-catalogue.js';
import type {
  EffectiveHolidayResponse,
  EffectiveHolidays,
  EffectiveQuery,
  HolidayResponse,
  HolidaysPage,
  HolidaysQuery,
  SubscriptionInput,
  SubscriptionsInput,
  SubscriptionsResponse,
  TenantSubscriptionsInput,
  TenantSubscriptionsResponse,
} from './holidays.dto.js';
import {
  type HolidaySubscription,
  type MemberSubscriptions,
  placeOf,
  TenantSubscriptions,
} from './holidays.schema.js';

/** The subscriptions of a member and of the workspace. */
export interface Subscriptions {
  own: MemberSubscriptions['subscriptions'];
  tenant: TenantSubscriptions['subscriptions'];
  muted: MemberSubscriptions['muted_tenant'];
}

const readMany = workspace.statement<Subscriptions & { user_id: string }>(
  'holidays.read_many',
  `SELECT member.user_id, coalesce(own.subscriptions, '[]') AS own, coalesce(own.muted_tenant, '{}') AS muted,
          coalesce(tenant.subscriptions, '[]') AS tenant
     FROM unnest($2::uuid[]) AS member (user_id)
     LEFT JOIN holiday_subscriptions AS own ON own.tenant_id = $1 AND own.user_id = member.user_id
     LEFT JOIN tenant_holiday_subscriptions AS tenant ON tenant.tenant_id = $1`,
);

// Null keeps the muted subscriptions.
const writeOwn = workspace.statement<never>(
  'holidays.write_subscriptions',
  `INSERT INTO holiday_subscriptions AS stored (tenant_id, user_id, subscriptions, muted_tenant)
   VALUES ($1, $2, $3::jsonb, coalesce($4::text[], '{}'))
   ON CONFLICT (tenant_id, user_id) DO UPDATE
     SET subscriptions = excluded.subscriptions, muted_tenant = coalesce($4::text[], stored.muted_tenant),
         updated_at = now()`,
);

/** SQL of holiday subscriptions. */
@Injectable()
export class HolidaysRepository {
  constructor(private readonly db: Db) {}

  async read({ tenantId, userId }: RequestContext, reader?: Reader): Promise<Subscriptions> {
    return (await this.readMany(tenantId, [userId], reader)).get(userId) as Subscriptions;
  }

  /** The key is the user id. */
  async readMany(tenantId: string, userIds: readonly string[], reader: Reader = this.db) {
    const rows = await reader.query(readMany, [tenantId, userIds]);
    return new Map(
      rows.map(({ user_id, ...subscriptions }): [string, Subscriptions] => [user_id, subscriptions]),
    );
  }

  async writeOwn(
    tx: Tx,
    ctx: RequestContext,
    subscriptions: HolidaySubscription[],
    muted: string[] | null,
  ): Promise<void> {
    await tx.query(writeOwn, [ctx.tenantId, ctx.userId, JSON.stringify(subscriptions), muted]);
  }

  async writeTenant(tx: Tx, ctx: RequestContext, subscriptions: HolidaySubscription[]): Promise<void> {
    const values = { tenant_id: ctx.tenantId, subscriptions, updated_at: NOW };
    await rowsOf(tx, TenantSubscriptions).store(['tenant_id'], values);
  }
}

const MAX_DAYS = 3 * 366;
const DAY_MS = 86_400_000;

/** Holidays of countries, and subscriptions of members and workspaces. */
@Injectable()
export class HolidaysService {
  constructor(
    private readonly repository: HolidaysRepository,
    private readonly catalogue: HolidayCatalogue,
    private readonly audit: Audit,
    private readonly db: Db,
  ) {}

  /** @throws ApiError 422 `unknown_country`, `unknown_region`, `year_unsupported` */
  async list({ country, region, types = [], language, ...range }: HolidaysQuery): Promise<HolidaysPage> {
    if (country === undefined) return { countries: await this.countries(), next: null };
    const { from, to } = rangeOf(range);
    const place = { country, region: await this.catalogue.regionOf(country, region ?? null) };
    await this.catalogue.assertYears(from, to);
    const holidays = await this.catalogue.holidays({
      ...place,
      from,
      to,
      types: types.length > 0 ? types : HOLIDAY_TYPES,
      language: languageOf(language),
    });
    return { holidays, next: null };
  }

  /** The holidays of the subscriptions of the workspace, unless muted, and of the caller. */
  async readEffective(ctx: RequestContext, query: EffectiveQuery): Promise<EffectiveHolidays> {
    const { from, to } = rangeOf(query);
    await this.catalogue.assertYears(from, to);
    const { own, tenant, muted } = await this.repository.read(ctx);
    const shown = tenant.filter((each) => !muted.includes(placeOf(each)));
    const found = new Map<string, EffectiveHolidayResponse>();
    const add = async (list: HolidaySubscription[], source: 'tenant' | 'personal'): Promise<void> => {
      for (const { country, region, types, language, color, busy } of list) {
        const names = languageOf(query.language ?? language ?? undefined);
        const range = { country, region, from, to, types, language: names };
        for (const holiday of await this.catalogue.holidays(range)) {
          const key = `${holiday.date} ${holiday.name}`;
          const existing = found.get(key);
          // A holiday of several subscriptions appears once, and blocks time if one of them does.
          if (existing) existing.busy ||= busy;
          else found.set(key, { ...holiday, source, color, busy });
        }
      }
    };
    await add(shown, 'tenant');
    await add(own, 'personal');
    const holidays = [...found.values()].toSorted((a, b) => (a.date < b.date ? -1 : a.date > b.date ? 1 : 0));
    return { holidays, subscriptions: [...shown, ...own], next: null };
  }

  /**
   * The holidays that block the time of members (`busy` of a subscription).
   * @param from first day, `to` last day; days without data have no holidays
   * @returns holidays by user id
   */
  async busyDays(
    tenantId: string,
    userIds: readonly string[],
    from: string,
    to: string,
    reader?: Reader,
  ): Promise<Map<string, HolidayResponse[]>> {
    const found = new Map<string, HolidayResponse[]>();
    if (userIds.length === 0) return found;
    for (const [userId, { own, tenant, muted }] of await this.repository.readMany(
      tenantId,
      userIds,
      reader,
    )) {
      const shown = [...tenant.filter((each) => !muted.includes(placeOf(each))), ...own];
      const days: HolidayResponse[] = [];
      for (const { country, region, types } of shown.filter(({ busy }) => busy))
        days.push(...(await this.catalogue.holidays({ country, region, from, to, types, language: 'en' })));
      found.set(userId, days);
    }
    return found;
  }

  async subscriptions(ctx: RequestContext): Promise<SubscriptionsResponse> {
    const { own, tenant, muted } = await this.repository.read(ctx);
    return { subscriptions: own, tenant_subscriptions: tenant, muted_tenant: muted };
  }

  /** @throws ApiError 422 `unknown_country`, `unknown_region` */
  async subscribe(ctx: RequestContext, input: SubscriptionsInput): Promise<SubscriptionsResponse> {
    const subscriptions = await this.checked(input.subscriptions);
    return this.db.tx(async (tx) => {
      await this.repository.writeOwn(tx, ctx, subscriptions, input.muted_tenant ?? null);
      const { own, tenant, muted } = await this.repository.read(ctx, tx);
      return { subscriptions: own, tenant_subscriptions: tenant, muted_tenant: muted };
    });
  }

  /** @throws ApiError 422 `unknown_country`, `unknown_region` */
  async subscribeTenant(
    ctx: RequestContext,
    input: TenantSubscriptionsInput,
  ): Promise<TenantSubscriptionsResponse> {
    const subscriptions = await this.checked(input.subscriptions);
    return this.db.tx(async (tx) => {
      await this.repository.writeTenant(tx, ctx, subscriptions);
      await this.audit.record(tx, ctx, {
        action: 'calendar.holidays.changed',
        objectKind: 'tenant',
        objectId: ctx.tenantId,
        data: { places: subscriptions.map(placeOf) },
      });
      return { subscriptions };
    });
  }

  private async countries() {
    return (await this.catalogue.countries()).map(({ country, name, language, regions }) => ({
      code: country,
      name,
      language,
      regions: Object.entries(regions).map(([code, regionName]) => ({ code, name: regionName })),
    }));
  }

  /** Checks that all places exist. If several entries name one place, the last one counts. */
  private async checked(inputs: SubscriptionInput[]): Promise<HolidaySubscription[]> {
    const byPlace = new Map<string, HolidaySubscription>();
    for (const { country, region = null, types, language = null, color = null, busy = false } of inputs) {
      const place = { country, region: await this.catalogue.regionOf(country, region) };
      const chosen = types && types.length > 0 ? types : ['public' as const];
      byPlace.set(placeOf(place), { ...place, types: chosen, language, color, busy });
    }
    return [...byPlace.values()];
  }
}

/** @throws ApiError 422 for a range that is empty or longer than three years */
function rangeOf({ from, to, year }: { from?: string; to?: string; year?: number }): {
  from: string;
  to: string;
} {
  const start = year === undefined ? (from ?? `${new Date().getUTCFullYear()}-01-01`) : `${year}-01-01`;
  const end = year === undefined ? (to ?? `${start.slice(0, 4)}-12-31`) : `${year}-12-31`;
  const days = (Date.parse(end) - Date.parse(start)) / DAY_MS;
  if (days < 0 || days > MAX_DAYS)
    throw fieldError('to', 'range', 'to must be from, or a later day within three years');
  return { from: start, to: end };
}

/** `de` of `de-AT`. */
const languageOf = (tag = 'en'): string => (tag.split(/[-_]/)[0] as string).toLowerCase();
