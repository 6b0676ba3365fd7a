import { type AuthorizationModel, type Userset, typeOf, usersetOf } from "./model.ts";

/** Users that tuples give a relation to an object: `user:anne`, `user:*`, `role:admins#assignee`, `folder:root`. */
export type UsersOf = (object: string, relation: string) => readonly string[];

/** Decides for one user who has what, at one moment: what was found out once is not looked up again. */
export class Checker {
  readonly #model: AuthorizationModel;
  readonly #user: string;
  readonly #usersOf: UsersOf;
  readonly #known = new Map<string, boolean>();
  readonly #underWay = new Set<string>();
  #cycles = 0;

  constructor(model: AuthorizationModel, user: string, usersOf: UsersOf) {
    this.#model = model;
    this.#user = user;
    this.#usersOf = usersOf;
  }

  holds(object: string, relation: string): boolean {
    const expression = usersetOf(this.#model, typeOf(object), relation);
    // E.g. `viewer from parent` where only some of the types that a parent can be have viewers.
    if (expression === undefined) return false;
    const key = `${object}#${relation}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    if (this.#underWay.has(key)) {
      this.#cycles++;
      return false;
    }
    this.#underWay.add(key);
    const cycles = this.#cycles;
    const result = this.#evaluate(expression, object, relation);
    this.#underWay.delete(key);
    // A no that rests on a cycle holds only where the cycle was entered.
    if (result || this.#cycles === cycles) this.#known.set(key, result);
    return result;
  }

  #evaluate(expression: Userset, object: string, relation: string): boolean {
    const evaluate = (part: Userset): boolean => this.#evaluate(part, object, relation);
    if ("computedUserset" in expression) return this.holds(object, expression.computedUserset.relation);
    if ("tupleToUserset" in expression) {
      const { tupleset, computedUserset } = expression.tupleToUserset;
      return this.#usersOf(object, tupleset.relation).some((other) => this.holds(other, computedUserset.relation));
    }
    if ("union" in expression) return expression.union.child.some(evaluate);
    if ("intersection" in expression) return expression.intersection.child.every(evaluate);
    if ("difference" in expression)
      return evaluate(expression.difference.base) && !evaluate(expression.difference.subtract);
    return this.#usersOf(object, relation).some((user) => this.#includes(user));
  }

  #includes(user: string): boolean {
    if (user === this.#user) return true;
    const [subject = "", relation] = user.split("#");
    if (relation !== undefined) return this.holds(subject, relation);
    return subject.endsWith(":*") && typeOf(subject) === typeOf(this.#user) && !this.#user.includes("#");
  }
}
