import fc from 'fast-check';
import { Tree, type TreeNode } from '../../../src/platform/resources/folders.js';

/** Each node lies in an earlier one or at the top: never a circle. */
const forest = fc.array(fc.nat(), { minLength: 1, maxLength: 30 }).map((picks) =>
  picks.map((pick, n): TreeNode => {
    const parent = pick % (n + 1);
    return { id: `${n}`, parent_id: parent === n ? null : `${parent}`, position: pick };
  }),
);

const depth = (nodes: readonly TreeNode[], id: string): number => {
  const parent_id = nodes.find((node) => node.id === id)?.parent_id ?? null;
  return parent_id === null ? 1 : 1 + depth(nodes, parent_id);
};

describe('a tree of folders', () => {
  test('the path leads to the top, and a node is below exactly the nodes of its path', () => {
    fc.assert(
      fc.property(forest, (nodes) => {
        const tree = new Tree(nodes);
        for (const { id } of nodes) {
          const path = tree.path(id);
          expect(path).toHaveLength(depth(nodes, id));
          const above = nodes.filter((node) => tree.listBelow(node.id).includes(id)).map((node) => node.id);
          expect(above.toSorted()).toEqual(path.toSorted());
        }
      }),
    );
  });

  test('a move without an obstacle keeps the forest free of circles and within the depth', () => {
    fc.assert(
      fc.property(forest, fc.nat(), fc.nat(), fc.integer({ min: 1, max: 8 }), (nodes, a, b, limit) => {
        const maxDepth = Math.max(limit, ...nodes.map((node) => depth(nodes, node.id)));
        const id = `${a % nodes.length}`;
        const parent_id = `${b % nodes.length}`;
        const tree = new Tree(nodes);
        const obstacle = tree.obstacle(id, parent_id, maxDepth);
        const moved = nodes.map((node) => (node.id === id ? { ...node, parent_id } : node));
        const circle = tree.listBelow(id).includes(parent_id);
        expect(obstacle === 'cycle').toBe(circle);
        if (circle) return;
        const deepest = Math.max(...moved.map((node) => depth(moved, node.id)));
        expect(obstacle === 'too_deep').toBe(deepest > maxDepth);
      }),
    );
  });

  test('a new node needs a known parent with room below it; the top is always possible', () => {
    const tree = new Tree([
      { id: 'a', parent_id: null, position: -5 },
      { id: 'b', parent_id: 'a', position: 1 },
    ]);
    expect(tree.obstacle(undefined, 'c', 9)).toBe('unknown_parent');
    expect(tree.obstacle(undefined, 'b', 2)).toBe('too_deep');
    expect(tree.obstacle(undefined, 'b', 3)).toBeNull();
    expect(tree.obstacle('a', null, 1)).toBeNull();
  });

  test('the last position follows the siblings, also below zero', () => {
    const tree = new Tree([{ id: 'a', parent_id: null, position: -5 }]);
    expect([tree.lastPosition(null), tree.lastPosition('a')]).toEqual([-4, 1]);
  });
});
