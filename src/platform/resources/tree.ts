/** A row of a table of folders. */
export interface TreeNode {
  id: string;
  parent_id: string | null;
  position: number;
}

/**
 * The folders of one owner, in memory while a change is checked. Read it under the lock of the tree, so that two concurrent moves
 * cannot create a cycle.
 */
export class Tree {
  private readonly nodes: Map<string, TreeNode>;
  private readonly byParent: Map<string | null, TreeNode[]>;

  constructor(nodes: readonly TreeNode[]) {
    this.nodes = new Map(nodes.map((node) => [node.id, node]));
    this.byParent = Map.groupBy(
      nodes.toSorted((a, b) => a.position - b.position),
      (node) => node.parent_id,
    );
  }

  get size(): number {
    return this.nodes.size;
  }

  has(id: string): boolean {
    return this.nodes.has(id);
  }

  /** In the order of their positions. */
  children(id: string | null): string[] {
    return (this.byParent.get(id) ?? []).map((node) => node.id);
  }

  /** The node and those above it, itself first; empty for an unknown node. */
  path(id: string | null): string[] {
    const path: string[] = [];
    for (let node = this.nodes.get(id ?? ''); node; node = this.nodes.get(node.parent_id ?? ''))
      path.push(node.id);
    return path;
  }

  /** The node and those below it, level by level. */
  below(id: string): string[] {
    return this.levels(id).flat();
  }

  /** Position after the last child of `parent` (null: the top). */
  lastPosition(parent: string | null): number {
    const siblings = this.byParent.get(parent);
    return siblings ? Math.max(...siblings.map((node) => node.position)) + 1 : 1;
  }

  /**
   * Whether `id` (undefined: a new node) may be placed in `parent`.
   * @returns the reason against it, or null
   */
  obstacle(
    id: string | undefined,
    parent: string | null,
    maxDepth: number,
  ): 'unknown_parent' | 'cycle' | 'too_deep' | null {
    if (parent === null) return null;
    if (!this.has(parent)) return 'unknown_parent';
    const path = this.path(parent);
    if (id !== undefined && path.includes(id)) return 'cycle';
    const height = id === undefined ? 1 : this.levels(id).length;
    return path.length + height > maxDepth ? 'too_deep' : null;
  }

  private levels(id: string): string[][] {
    const levels: string[][] = [];
    for (
      let level = this.has(id) ? [id] : [];
      level.length > 0;
      level = level.flatMap((at) => this.children(at))
    )
      levels.push(level);
    return levels;
  }
}
