; A hot mug into a cabinet: two mugs, an apple, a side table, two cabinets and a microwave.
(define (problem mug)
 (:domain alfred)
 (:objects
  agent1 - agent
  loc_bar_start loc_bar_table loc_bar_cabinet_a loc_bar_cabinet_b loc_bar_microwave - location
  sidetable_bar_a cabinet_bar_a cabinet_bar_b microwave_bar_a - receptacle
  mug_bar_a mug_bar_b apple_bar_a - object
  SideTableType CabinetType MicrowaveType - rtype
  MugType AppleType - otype)
 (:init
  (= (total-cost) 0)
  (atLocation agent1 loc_bar_start)
  (receptacleAtLocation sidetable_bar_a loc_bar_table)
  (receptacleAtLocation cabinet_bar_a loc_bar_cabinet_a)
  (receptacleAtLocation cabinet_bar_b loc_bar_cabinet_b)
  (receptacleAtLocation microwave_bar_a loc_bar_microwave)
  (receptacleType sidetable_bar_a SideTableType)
  (receptacleType cabinet_bar_a CabinetType)
  (receptacleType cabinet_bar_b CabinetType)
  (receptacleType microwave_bar_a MicrowaveType)
  (openable cabinet_bar_a) (openable cabinet_bar_b) (openable microwave_bar_a)
  (objectType mug_bar_a MugType) (objectType mug_bar_b MugType) (objectType apple_bar_a AppleType)
  (pickupable mug_bar_a) (pickupable mug_bar_b) (pickupable apple_bar_a)
  (heatable mug_bar_a) (heatable mug_bar_b) (heatable apple_bar_a)
  (canContain CabinetType MugType) (canContain SideTableType MugType) (canContain SideTableType AppleType)
  (canContain MicrowaveType MugType) (canContain MicrowaveType AppleType)
  (inReceptacle mug_bar_a sidetable_bar_a) (objectAtLocation mug_bar_a loc_bar_table)
  (inReceptacle apple_bar_a sidetable_bar_a) (objectAtLocation apple_bar_a loc_bar_table)
  (inReceptacle mug_bar_b cabinet_bar_a) (objectAtLocation mug_bar_b loc_bar_cabinet_a)
  (= (distance loc_bar_start loc_bar_table) 4))
 (:goal (exists (?r - receptacle ?o - object)
  (and (heatable ?o) (isHot ?o) (objectType ?o MugType) (receptacleType ?r CabinetType) (inReceptacle ?o ?r))))
 (:metric minimize (total-cost)))
