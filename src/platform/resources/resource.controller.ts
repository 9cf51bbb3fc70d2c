import { applyDecorators, Body, Inject, Query, type Type } from '@nestjs/common';
import { Expected, type ExpectedRevision } from '../concurrency/expected-revision.js';
import { Idempotency, type IdempotencyKey } from '../concurrency/idempotency.js';
import { Requires } from '../context/permission.guard.js';
import { Ctx, type RequestContext } from '../context/request-context.js';
import { Id } from '../http/id.pipe.js';
import { type Checked, CheckedBody } from '../http/input.pipe.js';
import {
  type BodyTexts,
  CreateOperation,
  DeleteOperation,
  ListOperation,
  type OperationTexts,
  ReadOperation,
  UpdateOperation,
  type UpdateTexts,
} from './operations.js';
import type { AnyResource, ReplyOf } from './resource.js';

/** The rules of a resource. `expected` is undefined where the resource has no revisions. */
interface ResourceService<R extends AnyResource, Listed, Created, Updated, Deleted> {
  list(ctx: RequestContext, query: Listed): Promise<ReplyOf<R, 'list'>>;
  create(ctx: RequestContext, key: IdempotencyKey | null, body: Created): Promise<ReplyOf<R, 'item'>>;
  read?(ctx: RequestContext, id: string): Promise<ReplyOf<R, 'item'>>;
  update(
    ctx: RequestContext,
    id: string,
    body: Checked<Updated>,
    expected: ExpectedRevision,
  ): Promise<ReplyOf<R, 'item'>>;
  delete(
    ctx: RequestContext,
    id: string,
    expected: ExpectedRevision,
    query: Deleted,
  ): Promise<ReplyOf<R, 'deleted'>>;
}

/** Documentation and inputs of the routes. Without `read`, the route `GET /:id` does not exist. */
interface ResourceRoutes<Listed, Created, Updated, Deleted> {
  list: OperationTexts & { query?: Type<Listed> };
  create: BodyTexts & { body: Type<Created> };
  read?: OperationTexts;
  update: UpdateTexts & { body: Type<Updated> };
  delete: OperationTexts & { query?: Type<Deleted> };
  /** Each route needs one of these permissions. `reads`: the permissions for list and read, if they differ. */
  requires?: Permissions;
  reads?: Permissions;
  /** Parameter of the path that names the item; default: `id`. */
  idName?: string;
}

/** The route `read` needs a service that reads. */
type ReadRoute<Service> = Service extends { read: unknown } ? unknown : { read?: never };

type Permissions = [string, ...string[]];

/** The routes of a resource, for a controller with the path of the resource to extend. */
export function ResourceController<
  R extends AnyResource,
  Listed extends object,
  Created extends object,
  Updated extends object,
  Deleted extends object,
  Service extends ResourceService<R, Listed, Created, Updated, Deleted>,
>(
  resource: R,
  service: Type<Service>,
  routes: ResourceRoutes<Listed, Created, Updated, Deleted> & ReadRoute<Service>,
) {
  const typed: ResourceRoutes<Listed, Created, Updated, Deleted> = routes;
  const { list, create, read, update, delete: removal, requires, reads = requires, idName = 'id' } = typed;
  const path = `:${idName}`;
  const Revision = () => (resource.options.revision ? Expected() : none);

  class Routes {
    constructor(@Inject(service) protected readonly service: Service) {}

    @ListOperation(resource, list)
    @Permitted(reads)
    list(@Ctx() ctx: RequestContext, @Typed(Query(), list.query) query: Listed) {
      return this.service.list(ctx, query);
    }

    @CreateOperation(resource, create)
    @Permitted(requires)
    create(
      @Ctx() ctx: RequestContext,
      @Idempotency() key: IdempotencyKey | null,
      @Typed(Body(), create.body) body: Created,
    ) {
      return this.service.create(ctx, key, body);
    }

    @(read ? ReadOperation(resource, { path, ...read }) : none)
    @Permitted(reads)
    read(@Ctx() ctx: RequestContext, @Id(idName) id: string) {
      return this.service.read!(ctx, id);
    }

    @UpdateOperation(resource, { path, ...update })
    @Permitted(requires)
    update(
      @Ctx() ctx: RequestContext,
      @Id(idName) id: string,
      @Revision() expected: ExpectedRevision,
      @CheckedBody(update.body) body: Checked<Updated>,
    ) {
      return this.service.update(ctx, id, body, expected);
    }

    @DeleteOperation(resource, { path, ...removal })
    @Permitted(requires)
    delete(
      @Ctx() ctx: RequestContext,
      @Id(idName) id: string,
      @Revision() expected: ExpectedRevision,
      @Typed(Query(), removal.query) query: Deleted,
    ) {
      return this.service.delete(ctx, id, expected, query);
    }
  }
  return Routes;
}

const none = (): void => undefined;

const Permitted = (permissions?: Permissions): MethodDecorator =>
  applyDecorators(...(permissions ? [Requires(...permissions)] : []));

/** `@Query()` or `@Body()` whose class is known only at run time. Without a class, the handler has no such input. */
const Typed =
  (input: ParameterDecorator, type: Type | undefined): ParameterDecorator =>
  (target, key, index) => {
    if (!type) return;
    const types = Reflect.getMetadata('design:paramtypes', target, key!) as unknown[];
    Reflect.defineMetadata('design:paramtypes', types.with(index, type), target, key!);
    input(target, key, index);
  };
