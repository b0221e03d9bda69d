;; A flat with fixtures (shelves, cupboards, appliances) and things that a tenant carries around.
(define (domain flat)
 (:requirements :adl :action-costs :typing)
 (:types
  tenant
  spot
  fixture
  object
  fkind
  okind
 )
 (:predicates
  (standing ?t - tenant ?s - spot)        ; where the tenant is
  (placed ?f - fixture ?s - spot)         ; where a fixture is: never changes
  (lies ?o - object ?s - spot)
  (inside ?o - object ?f - fixture)       ; in it or on it
  (hinged ?f - fixture)                   ; it has a door
  (ajar ?f - fixture)                     ; and the door is open
  (fixtureKind ?f - fixture ?k - fkind)
  (objectKind ?o - object ?k - okind)
  (accepts ?fk - fkind ?ok - okind)
  (carries ?t - tenant ?o - object)
  (busy ?t - tenant)
  (portable ?o - object)
  (washable ?o - object)
  (warmable ?o - object)
  (chillable ?o - object)
  (divisible ?o - object)
  (electric ?o - object)
  (washed ?o - object)
  (warm ?o - object)
  (chilled ?o - object)
  (divided ?o - object)
  (glowing ?o - object)
  (used ?o - object)
  (noted ?x)                              ; anything that was looked at
 )
 (:functions
  (distance ?from ?to)
  (total-cost) - number
 )

 (:action look
  :parameters (?t - tenant ?s - spot)
  :precondition (and (standing ?t ?s))
  :effect (and (noted ?s)))

 (:action inventory
  :parameters (?t - tenant)
  :precondition ()
  :effect (and (noted ?t)))

 (:action inspectFixture
  :parameters (?t - tenant ?f - fixture)
  :precondition (and
    (exists (?s - spot)
      (and (standing ?t ?s) (placed ?f ?s))))
  :effect (and (noted ?f)))

 (:action inspectThing
  :parameters (?t - tenant ?o - object)
  :precondition (or
    ; the comma makes a type that does not exist, as in the domain that games are published with
    (exists (?s - spot, ?f - fixture)
      (and (standing ?t ?s) (placed ?f ?s) (inside ?o ?f) (or (not (hinged ?f)) (ajar ?f))))
    (carries ?t ?o))
  :effect (and (noted ?o)))

{{if .Old}}
 (:action walk
  :parameters (?t - tenant ?sFrom - spot ?sTo - spot)
  :precondition (and
    (standing ?t ?sFrom)
    (exists (?f - fixture) (placed ?f ?sTo)))
  :effect (and
    (not (standing ?t ?sFrom))
    (standing ?t ?sTo)
    (increase (total-cost) 1)))
{{else}}
 (:action walk
  :parameters (?t - tenant ?sFrom - spot ?sTo - spot ?f - fixture)
  :precondition (and
    (standing ?t ?sFrom)
    (placed ?f ?sTo)
    ; (exists (?f - fixture) (placed ?f ?sTo))
    )
  :effect (and
    (not (standing ?t ?sFrom))
    (standing ?t ?sTo)
    {{if .Notes}}(forall (?g - fixture)
      (when (and (placed ?g ?sTo) (or (not (hinged ?g)) (ajar ?g)))
        (noted ?g))){{end}}
    (increase (total-cost) 1)))
{{end}}
 (:action unlatch
  :parameters (?t - tenant ?s - spot ?f - fixture)
  :precondition (and
    (hinged ?f)
    (standing ?t ?s)
    (placed ?f ?s)
    {{if .Old}}(forall (?g - fixture) (not (ajar ?g))){{else}}(not (ajar ?f)){{end}})
  :effect (and (ajar ?f) (noted ?f) (increase (total-cost) 1)))

 (:action shut
  :parameters (?t - tenant ?s - spot ?f - fixture)
  :precondition (and (hinged ?f) (standing ?t ?s) (placed ?f ?s) (ajar ?f))
  :effect (and (not (ajar ?f)) (increase (total-cost) 1)))

 (:action lift
  :parameters (?t - tenant ?s - spot ?o - object ?f - fixture)
  :precondition (and
    (portable ?o)
    (standing ?t ?s)
    (placed ?f ?s)
    (inside ?o ?f)
    (not (busy ?t))
    (or (not (hinged ?f)) (ajar ?f)))
  :effect (and
    (not (inside ?o ?f))
    (carries ?t ?o)
    (busy ?t)
    (not (lies ?o ?s))
    (increase (total-cost) 1)))

 (:action lay
  :parameters (?t - tenant ?s - spot ?o - object ?f - fixture ?ok - okind ?fk - fkind)
  :precondition (and
    (carries ?t ?o)
    (standing ?t ?s)
    (placed ?f ?s)
    (imply (hinged ?f) (ajar ?f))
    (objectKind ?o ?ok)
    (fixtureKind ?f ?fk)
    (accepts ?fk ?ok))
  :effect (and
    (inside ?o ?f)
    (lies ?o ?s)
    (not (carries ?t ?o))
    (not (busy ?t))
    (increase (total-cost) 1)))

 (:action wash
  :parameters (?t - tenant ?s - spot ?f - fixture ?o - object)
  :precondition (and
    (washable ?o)
    (or (fixtureKind ?f BasinKind))
    (standing ?t ?s) (placed ?f ?s) (carries ?t ?o))
  :effect (and (increase (total-cost) 5) (washed ?o)))

 (:action warmUp
  :parameters (?t - tenant ?s - spot ?f - fixture ?o - object)
  :precondition (and
    (warmable ?o)
    (or (fixtureKind ?f OvenKind) (fixtureKind ?f StoveKind))
    (standing ?t ?s) (placed ?f ?s) (carries ?t ?o))
  :effect (and (increase (total-cost) 5) (warm ?o) (not (chilled ?o))))

 (:action chill
  :parameters (?t - tenant ?s - spot ?f - fixture ?o - object)
  :precondition (and
    (chillable ?o)
    (or (fixtureKind ?f IceboxKind))
    (standing ?t ?s) (placed ?f ?s) (carries ?t ?o))
  :effect (and (increase (total-cost) 5) (chilled ?o) (not (warm ?o))))

 (:action switch
  :parameters (?t - tenant ?s - spot ?o - object ?f - fixture)
  :precondition (and (electric ?o) (standing ?t ?s) (placed ?f ?s) (inside ?o ?f))
  :effect (and
    (increase (total-cost) 5)
    (when (glowing ?o) (not (glowing ?o)))
    (when (not (glowing ?o)) (glowing ?o))
    (used ?o)))

 (:action divide
  :parameters (?t - tenant ?s - spot ?o - object ?blade - object)
  :precondition (and
    (divisible ?o)
    (or (objectKind ?blade KnifeKind) (objectKind ?blade CleaverKind))
    (standing ?t ?s)
    (lies ?o ?s)
    (carries ?t ?blade))
  :effect (and (increase (total-cost) 5) (divided ?o)))
{{if not .Old}}
 (:action help
  :parameters (?t - tenant)
  :precondition ()
  :effect (and (noted ?t)))
{{end}}
)
