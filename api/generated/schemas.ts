/* Generated from manifests/crds by dev/scripts/generate-types.ts. Do not edit. */

export const SCHEMAS: Record<string, object> = {
 "Gate": {
  "type": "object",
  "required": [
   "spec"
  ],
  "properties": {
   "apiVersion": {
    "type": "string"
   },
   "kind": {
    "type": "string"
   },
   "metadata": {
    "type": "object"
   },
   "spec": {
    "type": "object",
    "required": [
     "default"
    ],
    "properties": {
     "interval": {
      "type": "string"
     },
     "default": {
      "type": "string"
     },
     "window": {
      "type": "string"
     },
     "schedule": {
      "type": "object",
      "required": [
       "rules"
      ],
      "properties": {
       "timezone": {
        "type": "string"
       },
       "action": {
        "type": "string"
       },
       "rules": {
        "type": "array",
        "items": {
         "type": "object",
         "properties": {
          "name": {
           "type": "string"
          },
          "timeRange": {
           "type": "object",
           "required": [
            "start",
            "end"
           ],
           "properties": {
            "start": {
             "type": "string"
            },
            "end": {
             "type": "string"
            }
           }
          },
          "daysOfWeek": {
           "type": "array",
           "items": {
            "type": "string"
           }
          },
          "dateRange": {
           "type": "object",
           "required": [
            "start",
            "end"
           ],
           "properties": {
            "start": {
             "type": "string"
            },
            "end": {
             "type": "string"
            }
           }
          }
         }
        }
       }
      }
     },
     "selects": {
      "type": "object",
      "properties": {
       "kinds": {
        "type": "array",
        "items": {
         "type": "string"
        }
       },
       "namespaceSelector": {
        "type": "object",
        "properties": {
         "matchLabels": {
          "type": "object",
          "additionalProperties": {
           "type": "string"
          }
         },
         "matchExpressions": {
          "type": "array",
          "items": {
           "type": "object",
           "required": [
            "key",
            "operator"
           ],
           "properties": {
            "key": {
             "type": "string"
            },
            "operator": {
             "type": "string"
            },
            "values": {
             "type": "array",
             "items": {
              "type": "string"
             }
            }
           }
          }
         }
        }
       },
       "labelSelector": {
        "type": "object",
        "properties": {
         "matchLabels": {
          "type": "object",
          "additionalProperties": {
           "type": "string"
          }
         },
         "matchExpressions": {
          "type": "array",
          "items": {
           "type": "object",
           "required": [
            "key",
            "operator"
           ],
           "properties": {
            "key": {
             "type": "string"
            },
            "operator": {
             "type": "string"
            },
            "values": {
             "type": "array",
             "items": {
              "type": "string"
             }
            }
           }
          }
         }
        }
       }
      }
     },
     "approvals": {
      "type": "object",
      "required": [
       "required"
      ],
      "properties": {
       "required": {
        "type": "integer"
       },
       "notBy": {
        "type": "array",
        "items": {
         "type": "string"
        }
       },
       "expireAfter": {
        "type": "string"
       },
       "serviceAccounts": {
        "type": "array",
        "items": {
         "type": "string"
        }
       }
      }
     },
     "receiver": {
      "type": "object",
      "required": [
       "type"
      ],
      "properties": {
       "type": {
        "type": "string"
       },
       "secretRef": {
        "type": "object",
        "required": [
         "name"
        ],
        "properties": {
         "name": {
          "type": "string"
         }
        }
       },
       "oidc": {
        "type": "object",
        "required": [
         "issuer",
         "audience",
         "claims"
        ],
        "properties": {
         "issuer": {
          "type": "string"
         },
         "audience": {
          "type": "string"
         },
         "claims": {
          "type": "object",
          "additionalProperties": {
           "type": "string"
          }
         }
        }
       }
      }
     }
    }
   },
   "status": {
    "type": "object",
    "properties": {
     "observedGeneration": {
      "type": "integer"
     },
     "requestedAt": {
      "type": "string"
     },
     "resetToDefaultAt": {
      "type": "string"
     },
     "request": {
      "type": "object",
      "required": [
       "action",
       "at"
      ],
      "properties": {
       "action": {
        "type": "string"
       },
       "at": {
        "type": "string"
       },
       "by": {
        "type": "string"
       },
       "reason": {
        "type": "string"
       }
      }
     },
     "planned": {
      "type": "object",
      "required": [
       "action",
       "at"
      ],
      "properties": {
       "action": {
        "type": "string"
       },
       "at": {
        "type": "string"
       },
       "by": {
        "type": "string"
       },
       "reason": {
        "type": "string"
       }
      }
     },
     "exception": {
      "type": "object",
      "required": [
       "action",
       "at",
       "for"
      ],
      "properties": {
       "action": {
        "type": "string"
       },
       "for": {
        "type": "string"
       },
       "at": {
        "type": "string"
       },
       "until": {
        "type": "string"
       },
       "by": {
        "type": "string"
       },
       "reason": {
        "type": "string"
       }
      }
     },
     "openedBy": {
      "type": "string"
     },
     "closedBy": {
      "type": "string"
     },
     "reason": {
      "type": "string"
     },
     "nextTransition": {
      "type": "string"
     },
     "requiredByCount": {
      "type": "integer"
     },
     "requiredBy": {
      "type": "array",
      "items": {
       "type": "object",
       "required": [
        "kind",
        "namespace",
        "name"
       ],
       "properties": {
        "kind": {
         "type": "string"
        },
        "namespace": {
         "type": "string"
        },
        "name": {
         "type": "string"
        }
       }
      }
     },
     "notHeld": {
      "type": "integer"
     },
     "notHeldObjects": {
      "type": "array",
      "items": {
       "type": "object",
       "required": [
        "kind",
        "namespace",
        "name",
        "reason"
       ],
       "properties": {
        "kind": {
         "type": "string"
        },
        "namespace": {
         "type": "string"
        },
        "name": {
         "type": "string"
        },
        "reason": {
         "type": "string"
        },
        "message": {
         "type": "string"
        }
       }
      }
     },
     "notResumed": {
      "type": "integer"
     },
     "notResumedObjects": {
      "type": "array",
      "items": {
       "type": "object",
       "required": [
        "kind",
        "namespace",
        "name",
        "reason"
       ],
       "properties": {
        "kind": {
         "type": "string"
        },
        "namespace": {
         "type": "string"
        },
        "name": {
         "type": "string"
        },
        "reason": {
         "type": "string"
        },
        "message": {
         "type": "string"
        }
       }
      }
     },
     "approvals": {
      "type": "object",
      "required": [
       "required"
      ],
      "properties": {
       "required": {
        "type": "integer"
       },
       "progress": {
        "type": "string"
       },
       "changedBy": {
        "type": "string"
       },
       "changedAt": {
        "type": "string"
       },
       "changes": {
        "type": "integer"
       },
       "versions": {
        "type": "array",
        "items": {
         "type": "object",
         "required": [
          "version",
          "given"
         ],
         "properties": {
          "version": {
           "type": "string"
          },
          "rollout": {
           "type": "string"
          },
          "count": {
           "type": "integer"
          },
          "enough": {
           "type": "boolean"
          },
          "given": {
           "type": "array",
           "items": {
            "type": "object",
            "required": [
             "by",
             "at"
            ],
            "properties": {
             "by": {
              "type": "string"
             },
             "at": {
              "type": "string"
             },
             "reason": {
              "type": "string"
             },
             "expiresAt": {
              "type": "string"
             },
             "doesNotCount": {
              "type": "string"
             }
            }
           }
          }
         }
        }
       }
      }
     },
     "webhookPath": {
      "type": "string"
     },
     "conditions": {
      "type": "array",
      "items": {
       "type": "object",
       "required": [
        "lastTransitionTime",
        "message",
        "reason",
        "status",
        "type"
       ],
       "properties": {
        "lastTransitionTime": {
         "type": "string"
        },
        "message": {
         "type": "string"
        },
        "observedGeneration": {
         "type": "integer"
        },
        "reason": {
         "type": "string"
        },
        "status": {
         "type": "string"
        },
        "type": {
         "type": "string"
        }
       }
      }
     }
    }
   }
  }
 },
 "ClusterRolloutBudget": {
  "type": "object",
  "required": [
   "spec"
  ],
  "properties": {
   "apiVersion": {
    "type": "string"
   },
   "kind": {
    "type": "string"
   },
   "metadata": {
    "type": "object"
   },
   "spec": {
    "type": "object",
    "required": [
     "selector",
     "namespaceSelector",
     "maxConcurrent"
    ],
    "properties": {
     "selector": {
      "type": "object",
      "properties": {
       "matchLabels": {
        "type": "object",
        "additionalProperties": {
         "type": "string"
        }
       },
       "matchExpressions": {
        "type": "array",
        "items": {
         "type": "object",
         "required": [
          "key",
          "operator"
         ],
         "properties": {
          "key": {
           "type": "string"
          },
          "operator": {
           "type": "string"
          },
          "values": {
           "type": "array",
           "items": {
            "type": "string"
           }
          }
         }
        }
       }
      }
     },
     "namespaceSelector": {
      "type": "object",
      "properties": {
       "matchLabels": {
        "type": "object",
        "additionalProperties": {
         "type": "string"
        }
       },
       "matchExpressions": {
        "type": "array",
        "items": {
         "type": "object",
         "required": [
          "key",
          "operator"
         ],
         "properties": {
          "key": {
           "type": "string"
          },
          "operator": {
           "type": "string"
          },
          "values": {
           "type": "array",
           "items": {
            "type": "string"
           }
          }
         }
        }
       }
      }
     },
     "maxConcurrent": {},
     "maxFailures": {},
     "order": {
      "type": "object",
      "required": [
       "label",
       "values"
      ],
      "properties": {
       "label": {
        "type": "string"
       },
       "values": {
        "type": "array",
        "items": {
         "type": "string"
        }
       }
      }
     },
     "cooldown": {
      "type": "string"
     },
     "slotTimeout": {
      "type": "string"
     }
    }
   },
   "status": {
    "type": "object",
    "properties": {
     "observedGeneration": {
      "type": "integer"
     },
     "revision": {
      "type": "integer"
     },
     "handledRequest": {
      "type": "string"
     },
     "selected": {
      "type": "integer"
     },
     "maxConcurrent": {
      "type": "integer"
     },
     "maxFailures": {
      "type": "integer"
     },
     "underWay": {
      "type": "integer"
     },
     "waiting": {
      "type": "integer"
     },
     "failed": {
      "type": "integer"
     },
     "slots": {
      "type": "array",
      "items": {
       "type": "object",
       "required": [
        "namespace",
        "name",
        "uid",
        "version",
        "rolloutRevision",
        "grantedTime",
        "state"
       ],
       "properties": {
        "namespace": {
         "type": "string"
        },
        "name": {
         "type": "string"
        },
        "uid": {
         "type": "string"
        },
        "request": {
         "type": "integer"
        },
        "version": {
         "type": "string"
        },
        "digest": {
         "type": "string"
        },
        "image": {
         "type": "string"
        },
        "rolloutRevision": {
         "type": "integer"
        },
        "grantedTime": {
         "type": "string"
        },
        "revokedTime": {
         "type": "string"
        },
        "state": {
         "type": "string"
        }
       }
      }
     },
     "cooling": {
      "type": "array",
      "items": {
       "type": "string"
      }
     },
     "versions": {
      "type": "array",
      "items": {
       "type": "object",
       "required": [
        "image",
        "version",
        "failed"
       ],
       "properties": {
        "image": {
         "type": "string"
        },
        "version": {
         "type": "string"
        },
        "digest": {
         "type": "string"
        },
        "wave": {
         "type": "string"
        },
        "waves": {
         "type": "array",
         "items": {
          "type": "object",
          "required": [
           "value",
           "total",
           "done",
           "underWay",
           "waiting",
           "failed"
          ],
          "properties": {
           "value": {
            "type": "string"
           },
           "total": {
            "type": "integer"
           },
           "done": {
            "type": "integer"
           },
           "underWay": {
            "type": "integer"
           },
           "waiting": {
            "type": "integer"
           },
           "failed": {
            "type": "integer"
           },
           "excused": {
            "type": "integer"
           }
          }
         }
        },
        "failed": {
         "type": "integer"
        },
        "failures": {
         "type": "array",
         "items": {
          "type": "object",
          "required": [
           "namespace",
           "name",
           "uid"
          ],
          "properties": {
           "namespace": {
            "type": "string"
           },
           "name": {
            "type": "string"
           },
           "uid": {
            "type": "string"
           }
          }
         }
        },
        "blocked": {
         "type": "boolean"
        },
        "failuresExcused": {
         "type": "integer"
        },
        "continuedBy": {
         "type": "string"
        },
        "continuedAt": {
         "type": "string"
        }
       }
      }
     },
     "conditions": {
      "type": "array",
      "items": {
       "type": "object",
       "required": [
        "lastTransitionTime",
        "message",
        "reason",
        "status",
        "type"
       ],
       "properties": {
        "lastTransitionTime": {
         "type": "string"
        },
        "message": {
         "type": "string"
        },
        "observedGeneration": {
         "type": "integer"
        },
        "reason": {
         "type": "string"
        },
        "status": {
         "type": "string"
        },
        "type": {
         "type": "string"
        }
       }
      }
     }
    }
   }
  }
 },
 "ClusterRolloutSchedule": {
  "type": "object",
  "required": [],
  "properties": {
   "apiVersion": {
    "type": "string"
   },
   "kind": {
    "type": "string"
   },
   "metadata": {
    "type": "object"
   },
   "spec": {
    "type": "object",
    "required": [
     "rolloutSelector",
     "rules"
    ],
    "properties": {
     "rolloutSelector": {
      "type": "object",
      "properties": {
       "matchLabels": {
        "type": "object",
        "additionalProperties": {
         "type": "string"
        }
       },
       "matchExpressions": {
        "type": "array",
        "items": {
         "type": "object",
         "required": [
          "key",
          "operator"
         ],
         "properties": {
          "key": {
           "type": "string"
          },
          "operator": {
           "type": "string"
          },
          "values": {
           "type": "array",
           "items": {
            "type": "string"
           }
          }
         }
        }
       }
      }
     },
     "namespaceSelector": {
      "type": "object",
      "properties": {
       "matchLabels": {
        "type": "object",
        "additionalProperties": {
         "type": "string"
        }
       },
       "matchExpressions": {
        "type": "array",
        "items": {
         "type": "object",
         "required": [
          "key",
          "operator"
         ],
         "properties": {
          "key": {
           "type": "string"
          },
          "operator": {
           "type": "string"
          },
          "values": {
           "type": "array",
           "items": {
            "type": "string"
           }
          }
         }
        }
       }
      }
     },
     "action": {
      "type": "string"
     },
     "timezone": {
      "type": "string"
     },
     "rules": {
      "type": "array",
      "items": {
       "type": "object",
       "properties": {
        "name": {
         "type": "string"
        },
        "timeRange": {
         "type": "object",
         "required": [
          "start",
          "end"
         ],
         "properties": {
          "start": {
           "type": "string"
          },
          "end": {
           "type": "string"
          }
         }
        },
        "daysOfWeek": {
         "type": "array",
         "items": {
          "type": "string"
         }
        },
        "dateRange": {
         "type": "object",
         "required": [
          "start",
          "end"
         ],
         "properties": {
          "start": {
           "type": "string"
          },
          "end": {
           "type": "string"
          }
         }
        }
       }
      }
     }
    }
   },
   "status": {
    "type": "object",
    "properties": {
     "observedGeneration": {
      "type": "integer"
     },
     "active": {
      "type": "boolean"
     },
     "activeRules": {
      "type": "array",
      "items": {
       "type": "string"
      }
     },
     "nextTransition": {
      "type": "string"
     },
     "managedGates": {
      "type": "array",
      "items": {
       "type": "string"
      }
     },
     "matchingRollouts": {
      "type": "integer"
     },
     "conditions": {
      "type": "array",
      "items": {
       "type": "object",
       "required": [
        "lastTransitionTime",
        "message",
        "reason",
        "status",
        "type"
       ],
       "properties": {
        "lastTransitionTime": {
         "type": "string"
        },
        "message": {
         "type": "string"
        },
        "observedGeneration": {
         "type": "integer"
        },
        "reason": {
         "type": "string"
        },
        "status": {
         "type": "string"
        },
        "type": {
         "type": "string"
        }
       }
      }
     }
    }
   }
  }
 },
 "FluxBinding": {
  "type": "object",
  "required": [],
  "properties": {
   "apiVersion": {
    "type": "string"
   },
   "kind": {
    "type": "string"
   },
   "metadata": {
    "type": "object"
   },
   "spec": {
    "type": "object",
    "required": [
     "target"
    ],
    "properties": {
     "target": {
      "type": "object",
      "required": [
       "apiVersion",
       "kind",
       "name",
       "uid"
      ],
      "properties": {
       "apiVersion": {
        "type": "string"
       },
       "kind": {
        "type": "string"
       },
       "name": {
        "type": "string"
       },
       "uid": {
        "type": "string"
       }
      }
     },
     "fields": {
      "type": "array",
      "items": {
       "type": "object",
       "required": [
        "rollout"
       ],
       "properties": {
        "rollout": {
         "type": "string"
        },
        "variable": {
         "type": "string"
        }
       }
      }
     },
     "gates": {
      "type": "array",
      "items": {
       "type": "object",
       "required": [
        "namespace",
        "gate"
       ],
       "properties": {
        "namespace": {
         "type": "string"
        },
        "gate": {
         "type": "string"
        },
        "selected": {
         "type": "boolean"
        }
       }
      }
     },
     "neverReconciled": {
      "type": "boolean"
     },
     "problems": {
      "type": "array",
      "items": {
       "type": "string"
      }
     },
     "source": {
      "type": "object",
      "required": [
       "apiVersion",
       "kind",
       "namespace",
       "name"
      ],
      "properties": {
       "apiVersion": {
        "type": "string"
       },
       "kind": {
        "type": "string"
       },
       "namespace": {
        "type": "string"
       },
       "name": {
        "type": "string"
       }
      }
     },
     "awaits": {
      "type": "object",
      "required": [
       "namespace",
       "name",
       "since"
      ],
      "properties": {
       "namespace": {
        "type": "string"
       },
       "name": {
        "type": "string"
       },
       "since": {
        "type": "string"
       }
      }
     },
     "observed": {
      "type": "object",
      "properties": {
       "deployed": {
        "type": "array",
        "items": {
         "type": "object",
         "required": [
          "rollout",
          "id",
          "version",
          "uid"
         ],
         "properties": {
          "rollout": {
           "type": "string"
          },
          "id": {
           "type": "integer"
          },
          "version": {
           "type": "string"
          },
          "uid": {
           "type": "string"
          }
         }
        }
       },
       "fetched": {
        "type": "string"
       },
       "applied": {
        "type": "string"
       },
       "reapplied": {
        "type": "boolean"
       }
      }
     },
     "report": {
      "type": "object",
      "properties": {
       "rollouts": {
        "type": "array",
        "items": {
         "type": "object",
         "required": [
          "rollout"
         ],
         "properties": {
          "rollout": {
           "type": "string"
          },
          "id": {
           "type": "integer"
          },
          "version": {
           "type": "string"
          },
          "uid": {
           "type": "string"
          },
          "writeBack": {
           "type": "string"
          }
         }
        }
       },
       "gates": {
        "type": "array",
        "items": {
         "type": "object",
         "required": [
          "namespace",
          "gate",
          "opened"
         ],
         "properties": {
          "namespace": {
           "type": "string"
          },
          "gate": {
           "type": "string"
          },
          "opened": {
           "type": "boolean"
          },
          "message": {
           "type": "string"
          },
          "until": {
           "type": "string"
          },
          "closure": {
           "type": "string"
          }
         }
        }
       },
       "bypassing": {
        "type": "array",
        "items": {
         "type": "object",
         "required": [
          "rollout",
          "id",
          "version",
          "uid"
         ],
         "properties": {
          "rollout": {
           "type": "string"
          },
          "id": {
           "type": "integer"
          },
          "version": {
           "type": "string"
          },
          "uid": {
           "type": "string"
          }
         }
        }
       }
      }
     }
    }
   },
   "status": {
    "type": "object",
    "properties": {
     "observedGeneration": {
      "type": "integer"
     },
     "deployed": {
      "type": "string"
     },
     "summary": {
      "type": "string"
     },
     "fields": {
      "type": "array",
      "items": {
       "type": "object",
       "required": [
        "rollout",
        "state"
       ],
       "properties": {
        "rollout": {
         "type": "string"
        },
        "variable": {
         "type": "string"
        },
        "id": {
         "type": "integer"
        },
        "version": {
         "type": "string"
        },
        "uid": {
         "type": "string"
        },
        "writeBack": {
         "type": "string"
        },
        "state": {
         "type": "string"
        },
        "message": {
         "type": "string"
        }
       }
      }
     },
     "source": {
      "type": "object",
      "properties": {
       "artifact": {
        "type": "string"
       },
       "awaits": {
        "type": "string"
       },
       "stuck": {
        "type": "string"
       }
      }
     },
     "applied": {
      "type": "array",
      "items": {
       "type": "object",
       "required": [
        "rollout",
        "id",
        "version",
        "uid"
       ],
       "properties": {
        "rollout": {
         "type": "string"
        },
        "id": {
         "type": "integer"
        },
        "version": {
         "type": "string"
        },
        "uid": {
         "type": "string"
        }
       }
      }
     },
     "gates": {
      "type": "array",
      "items": {
       "type": "object",
       "required": [
        "namespace",
        "name",
        "opened"
       ],
       "properties": {
        "namespace": {
         "type": "string"
        },
        "name": {
         "type": "string"
        },
        "opened": {
         "type": "boolean"
        },
        "message": {
         "type": "string"
        },
        "until": {
         "type": "string"
        },
        "closure": {
         "type": "string"
        }
       }
      }
     },
     "bypassing": {
      "type": "array",
      "items": {
       "type": "object",
       "required": [
        "rollout",
        "id",
        "version",
        "uid"
       ],
       "properties": {
        "rollout": {
         "type": "string"
        },
        "id": {
         "type": "integer"
        },
        "version": {
         "type": "string"
        },
        "uid": {
         "type": "string"
        }
       }
      }
     },
     "heldSince": {
      "type": "string"
     },
     "awaits": {
      "type": "object",
      "required": [
       "namespace",
       "name",
       "since",
       "state",
       "stateSince"
      ],
      "properties": {
       "namespace": {
        "type": "string"
       },
       "name": {
        "type": "string"
       },
       "since": {
        "type": "string"
       },
       "state": {
        "type": "string"
       },
       "reason": {
        "type": "string"
       },
       "stateSince": {
        "type": "string"
       }
      }
     },
     "conditions": {
      "type": "array",
      "items": {
       "type": "object",
       "required": [
        "lastTransitionTime",
        "message",
        "reason",
        "status",
        "type"
       ],
       "properties": {
        "lastTransitionTime": {
         "type": "string"
        },
        "message": {
         "type": "string"
        },
        "observedGeneration": {
         "type": "integer"
        },
        "reason": {
         "type": "string"
        },
        "status": {
         "type": "string"
        },
        "type": {
         "type": "string"
        }
       }
      }
     }
    }
   }
  }
 },
 "HealthCheck": {
  "type": "object",
  "required": [],
  "properties": {
   "apiVersion": {
    "type": "string"
   },
   "kind": {
    "type": "string"
   },
   "metadata": {
    "type": "object"
   },
   "spec": {
    "type": "object",
    "properties": {
     "class": {
      "type": "string"
     },
     "job": {
      "type": "object",
      "required": [
       "template"
      ],
      "properties": {
       "template": {
        "type": "object",
        "required": [
         "spec"
        ],
        "properties": {
         "metadata": {
          "type": "object",
          "properties": {
           "labels": {
            "type": "object",
            "additionalProperties": {
             "type": "string"
            }
           },
           "annotations": {
            "type": "object",
            "additionalProperties": {
             "type": "string"
            }
           }
          }
         },
         "spec": {
          "type": "object"
         }
        }
       }
      }
     },
     "prometheus": {
      "type": "object",
      "required": [
       "provider",
       "query",
       "thresholdRange"
      ],
      "properties": {
       "provider": {
        "type": "string"
       },
       "query": {
        "type": "string"
       },
       "thresholdRange": {
        "type": "object",
        "properties": {
         "min": {
          "type": "number"
         },
         "max": {
          "type": "number"
         }
        }
       },
       "interval": {
        "type": "string"
       },
       "failureLimit": {
        "type": "integer"
       },
       "onEmpty": {
        "type": "string"
       }
      }
     }
    }
   },
   "status": {
    "type": "object",
    "properties": {
     "status": {
      "type": "string"
     },
     "message": {
      "type": "string"
     },
     "lastErrorTime": {
      "type": "string"
     },
     "lastHealthyTime": {
      "type": "string"
     },
     "healthySince": {
      "type": "string"
     },
     "failedAttempts": {
      "type": "array",
      "items": {
       "type": "object",
       "required": [
        "object",
        "first"
       ],
       "properties": {
        "object": {
         "type": "string"
        },
        "first": {
         "type": "string"
        }
       }
      }
     },
     "steadySince": {
      "type": "string"
     },
     "lastChangeTime": {
      "type": "string"
     },
     "job": {
      "type": "object",
      "required": [
       "namespace",
       "name"
      ],
      "properties": {
       "namespace": {
        "type": "string"
       },
       "name": {
        "type": "string"
       }
      }
     },
     "prometheus": {
      "type": "object",
      "properties": {
       "failures": {
        "type": "integer"
       },
       "measurements": {
        "type": "array",
        "items": {
         "type": "object",
         "required": [
          "time",
          "result"
         ],
         "properties": {
          "time": {
           "type": "string"
          },
          "result": {
           "type": "string"
          },
          "value": {
           "type": "string"
          },
          "series": {
           "type": "integer"
          }
         }
        }
       }
      }
     }
    }
   }
  }
 },
 "MetricProvider": {
  "type": "object",
  "required": [
   "spec"
  ],
  "properties": {
   "apiVersion": {
    "type": "string"
   },
   "kind": {
    "type": "string"
   },
   "metadata": {
    "type": "object"
   },
   "spec": {
    "type": "object",
    "required": [
     "address",
     "namespaceSelector"
    ],
    "properties": {
     "address": {
      "type": "string"
     },
     "secretRef": {
      "type": "object",
      "required": [
       "name"
      ],
      "properties": {
       "name": {
        "type": "string"
       }
      }
     },
     "certSecretRef": {
      "type": "object",
      "required": [
       "name"
      ],
      "properties": {
       "name": {
        "type": "string"
       }
      }
     },
     "namespaceSelector": {
      "type": "object",
      "properties": {
       "matchLabels": {
        "type": "object",
        "additionalProperties": {
         "type": "string"
        }
       },
       "matchExpressions": {
        "type": "array",
        "items": {
         "type": "object",
         "required": [
          "key",
          "operator"
         ],
         "properties": {
          "key": {
           "type": "string"
          },
          "operator": {
           "type": "string"
          },
          "values": {
           "type": "array",
           "items": {
            "type": "string"
           }
          }
         }
        }
       }
      }
     }
    }
   }
  }
 },
 "RolloutBudget": {
  "type": "object",
  "required": [
   "spec"
  ],
  "properties": {
   "apiVersion": {
    "type": "string"
   },
   "kind": {
    "type": "string"
   },
   "metadata": {
    "type": "object"
   },
   "spec": {
    "type": "object",
    "required": [
     "selector",
     "maxConcurrent"
    ],
    "properties": {
     "selector": {
      "type": "object",
      "properties": {
       "matchLabels": {
        "type": "object",
        "additionalProperties": {
         "type": "string"
        }
       },
       "matchExpressions": {
        "type": "array",
        "items": {
         "type": "object",
         "required": [
          "key",
          "operator"
         ],
         "properties": {
          "key": {
           "type": "string"
          },
          "operator": {
           "type": "string"
          },
          "values": {
           "type": "array",
           "items": {
            "type": "string"
           }
          }
         }
        }
       }
      }
     },
     "maxConcurrent": {},
     "maxFailures": {},
     "order": {
      "type": "object",
      "required": [
       "label",
       "values"
      ],
      "properties": {
       "label": {
        "type": "string"
       },
       "values": {
        "type": "array",
        "items": {
         "type": "string"
        }
       }
      }
     },
     "cooldown": {
      "type": "string"
     },
     "slotTimeout": {
      "type": "string"
     }
    }
   },
   "status": {
    "type": "object",
    "properties": {
     "observedGeneration": {
      "type": "integer"
     },
     "revision": {
      "type": "integer"
     },
     "handledRequest": {
      "type": "string"
     },
     "selected": {
      "type": "integer"
     },
     "maxConcurrent": {
      "type": "integer"
     },
     "maxFailures": {
      "type": "integer"
     },
     "underWay": {
      "type": "integer"
     },
     "waiting": {
      "type": "integer"
     },
     "failed": {
      "type": "integer"
     },
     "slots": {
      "type": "array",
      "items": {
       "type": "object",
       "required": [
        "namespace",
        "name",
        "uid",
        "version",
        "rolloutRevision",
        "grantedTime",
        "state"
       ],
       "properties": {
        "namespace": {
         "type": "string"
        },
        "name": {
         "type": "string"
        },
        "uid": {
         "type": "string"
        },
        "request": {
         "type": "integer"
        },
        "version": {
         "type": "string"
        },
        "digest": {
         "type": "string"
        },
        "image": {
         "type": "string"
        },
        "rolloutRevision": {
         "type": "integer"
        },
        "grantedTime": {
         "type": "string"
        },
        "revokedTime": {
         "type": "string"
        },
        "state": {
         "type": "string"
        }
       }
      }
     },
     "cooling": {
      "type": "array",
      "items": {
       "type": "string"
      }
     },
     "versions": {
      "type": "array",
      "items": {
       "type": "object",
       "required": [
        "image",
        "version",
        "failed"
       ],
       "properties": {
        "image": {
         "type": "string"
        },
        "version": {
         "type": "string"
        },
        "digest": {
         "type": "string"
        },
        "wave": {
         "type": "string"
        },
        "waves": {
         "type": "array",
         "items": {
          "type": "object",
          "required": [
           "value",
           "total",
           "done",
           "underWay",
           "waiting",
           "failed"
          ],
          "properties": {
           "value": {
            "type": "string"
           },
           "total": {
            "type": "integer"
           },
           "done": {
            "type": "integer"
           },
           "underWay": {
            "type": "integer"
           },
           "waiting": {
            "type": "integer"
           },
           "failed": {
            "type": "integer"
           },
           "excused": {
            "type": "integer"
           }
          }
         }
        },
        "failed": {
         "type": "integer"
        },
        "failures": {
         "type": "array",
         "items": {
          "type": "object",
          "required": [
           "namespace",
           "name",
           "uid"
          ],
          "properties": {
           "namespace": {
            "type": "string"
           },
           "name": {
            "type": "string"
           },
           "uid": {
            "type": "string"
           }
          }
         }
        },
        "blocked": {
         "type": "boolean"
        },
        "failuresExcused": {
         "type": "integer"
        },
        "continuedBy": {
         "type": "string"
        },
        "continuedAt": {
         "type": "string"
        }
       }
      }
     },
     "conditions": {
      "type": "array",
      "items": {
       "type": "object",
       "required": [
        "lastTransitionTime",
        "message",
        "reason",
        "status",
        "type"
       ],
       "properties": {
        "lastTransitionTime": {
         "type": "string"
        },
        "message": {
         "type": "string"
        },
        "observedGeneration": {
         "type": "integer"
        },
        "reason": {
         "type": "string"
        },
        "status": {
         "type": "string"
        },
        "type": {
         "type": "string"
        }
       }
      }
     }
    }
   }
  }
 },
 "RolloutGate": {
  "type": "object",
  "required": [],
  "properties": {
   "apiVersion": {
    "type": "string"
   },
   "kind": {
    "type": "string"
   },
   "metadata": {
    "type": "object"
   },
   "spec": {
    "type": "object",
    "required": [
     "passing",
     "rolloutRef"
    ],
    "properties": {
     "rolloutRef": {
      "type": "object",
      "required": [
       "name"
      ],
      "properties": {
       "name": {
        "type": "string"
       }
      }
     },
     "passing": {
      "type": "boolean"
     },
     "allowedVersions": {
      "type": "array",
      "items": {
       "type": "string"
      }
     },
     "rejectedVersions": {
      "type": "array",
      "items": {
       "type": "string"
      }
     },
     "approvals": {
      "type": "object",
      "required": [
       "required"
      ],
      "properties": {
       "required": {
        "type": "integer"
       },
       "notBy": {
        "type": "array",
        "items": {
         "type": "string"
        }
       },
       "expireAfter": {
        "type": "string"
       },
       "serviceAccounts": {
        "type": "array",
        "items": {
         "type": "string"
        }
       }
      }
     }
    }
   },
   "status": {
    "type": "object",
    "properties": {
     "observedGeneration": {
      "type": "integer"
     },
     "conditions": {
      "type": "array",
      "items": {
       "type": "object",
       "required": [
        "lastTransitionTime",
        "message",
        "reason",
        "status",
        "type"
       ],
       "properties": {
        "lastTransitionTime": {
         "type": "string"
        },
        "message": {
         "type": "string"
        },
        "observedGeneration": {
         "type": "integer"
        },
        "reason": {
         "type": "string"
        },
        "status": {
         "type": "string"
        },
        "type": {
         "type": "string"
        }
       }
      }
     },
     "approvals": {
      "type": "object",
      "required": [
       "required"
      ],
      "properties": {
       "required": {
        "type": "integer"
       },
       "progress": {
        "type": "string"
       },
       "changedBy": {
        "type": "string"
       },
       "changedAt": {
        "type": "string"
       },
       "changes": {
        "type": "integer"
       },
       "versions": {
        "type": "array",
        "items": {
         "type": "object",
         "required": [
          "version",
          "given"
         ],
         "properties": {
          "version": {
           "type": "string"
          },
          "rollout": {
           "type": "string"
          },
          "count": {
           "type": "integer"
          },
          "enough": {
           "type": "boolean"
          },
          "given": {
           "type": "array",
           "items": {
            "type": "object",
            "required": [
             "by",
             "at"
            ],
            "properties": {
             "by": {
              "type": "string"
             },
             "at": {
              "type": "string"
             },
             "reason": {
              "type": "string"
             },
             "expiresAt": {
              "type": "string"
             },
             "doesNotCount": {
              "type": "string"
             }
            }
           }
          }
         }
        }
       }
      }
     }
    }
   }
  }
 },
 "Rollout": {
  "type": "object",
  "required": [],
  "properties": {
   "apiVersion": {
    "type": "string"
   },
   "kind": {
    "type": "string"
   },
   "metadata": {
    "type": "object"
   },
   "spec": {
    "type": "object",
    "required": [
     "releasesImagePolicy"
    ],
    "properties": {
     "releasesImagePolicy": {
      "type": "object",
      "properties": {
       "name": {
        "type": "string"
       },
       "namespace": {
        "type": "string"
       }
      }
     },
     "wantedVersion": {
      "type": "string"
     },
     "initialVersion": {
      "type": "string"
     },
     "versionHistoryLimit": {
      "type": "integer"
     },
     "availableReleasesRetentionDays": {
      "type": "integer"
     },
     "availableReleasesMinCount": {
      "type": "integer"
     },
     "releaseUpdateInterval": {
      "type": "string"
     },
     "minimumReleaseAge": {
      "type": "string"
     },
     "bakeTime": {
      "type": "string"
     },
     "deployTimeout": {
      "type": "string"
     },
     "healthCheckSelector": {
      "type": "object",
      "properties": {
       "matchLabels": {
        "type": "object",
        "additionalProperties": {
         "type": "string"
        }
       },
       "selector": {
        "type": "object",
        "properties": {
         "matchLabels": {
          "type": "object",
          "additionalProperties": {
           "type": "string"
          }
         },
         "matchExpressions": {
          "type": "array",
          "items": {
           "type": "object",
           "required": [
            "key",
            "operator"
           ],
           "properties": {
            "key": {
             "type": "string"
            },
            "operator": {
             "type": "string"
            },
            "values": {
             "type": "array",
             "items": {
              "type": "string"
             }
            }
           }
          }
         }
        }
       },
       "namespaceSelector": {
        "type": "object",
        "properties": {
         "matchLabels": {
          "type": "object",
          "additionalProperties": {
           "type": "string"
          }
         },
         "matchExpressions": {
          "type": "array",
          "items": {
           "type": "object",
           "required": [
            "key",
            "operator"
           ],
           "properties": {
            "key": {
             "type": "string"
            },
            "operator": {
             "type": "string"
            },
            "values": {
             "type": "array",
             "items": {
              "type": "string"
             }
            }
           }
          }
         }
        }
       }
      }
     },
     "gateFirstDeployment": {
      "type": "boolean"
     },
     "gates": {
      "type": "array",
      "items": {
       "type": "object",
       "required": [
        "name"
       ],
       "properties": {
        "name": {
         "type": "string"
        },
        "namespace": {
         "type": "string"
        }
       }
      }
     },
     "after": {
      "type": "array",
      "items": {
       "type": "object",
       "required": [
        "name"
       ],
       "properties": {
        "name": {
         "type": "string"
        },
        "namespace": {
         "type": "string"
        },
        "bakedFor": {
         "type": "string"
        },
        "match": {
         "type": "string"
        }
       }
      }
     },
     "onFailure": {
      "type": "string"
     },
     "rollback": {
      "type": "object",
      "properties": {
       "barrier": {
        "type": "string"
       }
      }
     },
     "releaseConfigMap": {
      "type": "object",
      "required": [
       "name"
      ],
      "properties": {
       "name": {
        "type": "string"
       }
      }
     },
     "writeBack": {
      "type": "object",
      "required": [
       "imagePolicy"
      ],
      "properties": {
       "imagePolicy": {
        "type": "string"
       }
      }
     },
     "targetRepository": {
      "type": "object",
      "required": [
       "url"
      ],
      "properties": {
       "url": {
        "type": "string"
       },
       "secretRef": {
        "type": "object",
        "required": [
         "name"
        ],
        "properties": {
         "name": {
          "type": "string"
         }
        }
       },
       "certSecretRef": {
        "type": "object",
        "required": [
         "name"
        ],
        "properties": {
         "name": {
          "type": "string"
         }
        }
       },
       "insecure": {
        "type": "boolean"
       },
       "when": {
        "type": "string"
       },
       "overwrite": {
        "type": "boolean"
       }
      }
     }
    }
   },
   "status": {
    "type": "object",
    "properties": {
     "observedGeneration": {
      "type": "integer"
     },
     "revision": {
      "type": "integer"
     },
     "handledRequest": {
      "type": "object",
      "additionalProperties": {
       "type": "string"
      }
     },
     "conditions": {
      "type": "array",
      "items": {
       "type": "object",
       "required": [
        "lastTransitionTime",
        "message",
        "reason",
        "status",
        "type"
       ],
       "properties": {
        "lastTransitionTime": {
         "type": "string"
        },
        "message": {
         "type": "string"
        },
        "observedGeneration": {
         "type": "integer"
        },
        "reason": {
         "type": "string"
        },
        "status": {
         "type": "string"
        },
        "type": {
         "type": "string"
        }
       }
      }
     },
     "copy": {
      "type": "object",
      "required": [
       "tag",
       "url"
      ],
      "properties": {
       "tag": {
        "type": "string"
       },
       "url": {
        "type": "string"
       },
       "digest": {
        "type": "string"
       },
       "bytes": {
        "type": "integer"
       },
       "uploadedBytes": {
        "type": "integer"
       },
       "time": {
        "type": "string"
       },
       "requestedAt": {
        "type": "string"
       }
      }
     },
     "image": {
      "type": "string"
     },
     "slotRequest": {
      "type": "object",
      "required": [
       "id",
       "since"
      ],
      "properties": {
       "id": {
        "type": "integer"
       },
       "since": {
        "type": "string"
       },
       "versions": {
        "type": "array",
        "items": {
         "type": "object",
         "required": [
          "tag"
         ],
         "properties": {
          "tag": {
           "type": "string"
          },
          "digest": {
           "type": "string"
          }
         }
        }
       },
       "budgets": {
        "type": "array",
        "items": {
         "type": "string"
        }
       },
       "pausedUntil": {
        "type": "string"
       }
      }
     },
     "currentVersion": {
      "type": "string"
     },
     "rollingOutVersion": {
      "type": "string"
     },
     "pendingVersion": {
      "type": "string"
     },
     "history": {
      "type": "array",
      "items": {
       "type": "object",
       "required": [
        "timestamp",
        "version"
       ],
       "properties": {
        "id": {
         "type": "integer"
        },
        "version": {
         "type": "object",
         "required": [
          "tag"
         ],
         "properties": {
          "tag": {
           "type": "string"
          },
          "digest": {
           "type": "string"
          },
          "version": {
           "type": "string"
          },
          "revision": {
           "type": "string"
          },
          "created": {
           "type": "string"
          },
          "firstSeen": {
           "type": "string"
          }
         }
        },
        "image": {
         "type": "string"
        },
        "timestamp": {
         "type": "string"
        },
        "appliedTime": {
         "type": "string"
        },
        "message": {
         "type": "string"
        },
        "origin": {
         "type": "array",
         "items": {
          "type": "string"
         }
        },
        "triggeredBy": {
         "type": "object",
         "required": [
          "kind",
          "name"
         ],
         "properties": {
          "kind": {
           "type": "string"
          },
          "name": {
           "type": "string"
          }
         }
        },
        "rolledBackFrom": {
         "type": "string"
        },
        "requestedBy": {
         "type": "string"
        },
        "reason": {
         "type": "string"
        },
        "approvals": {
         "type": "array",
         "items": {
          "type": "object",
          "required": [
           "gate",
           "at"
          ],
          "properties": {
           "gate": {
            "type": "string"
           },
           "kind": {
            "type": "string"
           },
           "by": {
            "type": "string"
           },
           "reason": {
            "type": "string"
           },
           "at": {
            "type": "string"
           }
          }
         }
        },
        "bypass": {
         "type": "object",
         "required": [
          "by",
          "at",
          "reason",
          "gates"
         ],
         "properties": {
          "by": {
           "type": "string"
          },
          "at": {
           "type": "string"
          },
          "reason": {
           "type": "string"
          },
          "gates": {
           "type": "array",
           "items": {
            "type": "string"
           }
          }
         }
        },
        "bakeStatus": {
         "type": "string"
        },
        "bakeStatusMessage": {
         "type": "string"
        },
        "bakeStartTime": {
         "type": "string"
        },
        "bakeEndTime": {
         "type": "string"
        },
        "lastRetryTimestamp": {
         "type": "string"
        },
        "waitedSeconds": {
         "type": "integer"
        },
        "graceSeconds": {
         "type": "integer"
        },
        "waitingSince": {
         "type": "string"
        },
        "failedHealthChecks": {
         "type": "array",
         "items": {
          "type": "object",
          "required": [
           "name",
           "namespace"
          ],
          "properties": {
           "name": {
            "type": "string"
           },
           "namespace": {
            "type": "string"
           },
           "message": {
            "type": "string"
           }
          }
         }
        },
        "knownHealth": {
         "type": "array",
         "items": {
          "type": "object",
          "required": [
           "name",
           "namespace"
          ],
          "properties": {
           "name": {
            "type": "string"
           },
           "namespace": {
            "type": "string"
           },
           "status": {
            "type": "string"
           },
           "lastChangeTime": {
            "type": "string"
           },
           "lastErrorTime": {
            "type": "string"
           }
          }
         }
        }
       }
      }
     },
     "availableReleases": {
      "type": "array",
      "items": {
       "type": "object",
       "required": [
        "tag"
       ],
       "properties": {
        "tag": {
         "type": "string"
        },
        "digest": {
         "type": "string"
        },
        "version": {
         "type": "string"
        },
        "revision": {
         "type": "string"
        },
        "created": {
         "type": "string"
        },
        "firstSeen": {
         "type": "string"
        }
       }
      }
     },
     "availableReleasesCount": {
      "type": "integer"
     },
     "lastReleaseUpdate": {
      "type": "string"
     },
     "releaseCandidates": {
      "type": "array",
      "items": {
       "type": "object",
       "required": [
        "tag"
       ],
       "properties": {
        "tag": {
         "type": "string"
        },
        "digest": {
         "type": "string"
        },
        "version": {
         "type": "string"
        },
        "revision": {
         "type": "string"
        },
        "created": {
         "type": "string"
        },
        "firstSeen": {
         "type": "string"
        }
       }
      }
     },
     "gatedReleaseCandidates": {
      "type": "array",
      "items": {
       "type": "object",
       "required": [
        "tag"
       ],
       "properties": {
        "tag": {
         "type": "string"
        },
        "digest": {
         "type": "string"
        },
        "version": {
         "type": "string"
        },
        "revision": {
         "type": "string"
        },
        "created": {
         "type": "string"
        },
        "firstSeen": {
         "type": "string"
        }
       }
      }
     },
     "rejectedReleases": {
      "type": "array",
      "items": {
       "type": "object",
       "required": [
        "tag",
        "gate",
        "timestamp"
       ],
       "properties": {
        "tag": {
         "type": "string"
        },
        "gate": {
         "type": "string"
        },
        "timestamp": {
         "type": "string"
        }
       }
      }
     },
     "rolledBackReleases": {
      "type": "array",
      "items": {
       "type": "string"
      }
     },
     "releaseAuthors": {
      "type": "array",
      "items": {
       "type": "object",
       "required": [
        "tag",
        "authors"
       ],
       "properties": {
        "tag": {
         "type": "string"
        },
        "authors": {
         "type": "string"
        }
       }
      }
     },
     "rollbackBarriers": {
      "type": "array",
      "items": {
       "type": "string"
      }
     },
     "withdrawnReleases": {
      "type": "array",
      "items": {
       "type": "object",
       "required": [
        "tag",
        "reason"
       ],
       "properties": {
        "tag": {
         "type": "string"
        },
        "reason": {
         "type": "string"
        }
       }
      }
     },
     "blockers": {
      "type": "array",
      "items": {
       "type": "object",
       "required": [
        "type",
        "effect",
        "reason"
       ],
       "properties": {
        "type": {
         "type": "string"
        },
        "effect": {
         "type": "string"
        },
        "reason": {
         "type": "string"
        },
        "version": {
         "type": "string"
        },
        "object": {
         "type": "object",
         "required": [
          "kind",
          "name"
         ],
         "properties": {
          "kind": {
           "type": "string"
          },
          "namespace": {
           "type": "string"
          },
          "name": {
           "type": "string"
          }
         }
        },
        "since": {
         "type": "string"
        },
        "until": {
         "type": "string"
        },
        "by": {
         "type": "string"
        },
        "have": {
         "type": "integer"
        },
        "need": {
         "type": "integer"
        }
       }
      }
     },
     "youngReleases": {
      "type": "array",
      "items": {
       "type": "object",
       "required": [
        "tag",
        "deployableAt"
       ],
       "properties": {
        "tag": {
         "type": "string"
        },
        "deployableAt": {
         "type": "string"
        }
       }
      }
     },
     "namedGates": {
      "type": "array",
      "items": {
       "type": "object",
       "required": [
        "gate",
        "seen"
       ],
       "properties": {
        "gate": {
         "type": "string"
        },
        "seen": {
         "type": "boolean"
        }
       }
      }
     },
     "gates": {
      "type": "array",
      "items": {
       "type": "object",
       "required": [
        "name"
       ],
       "properties": {
        "kind": {
         "type": "string"
        },
        "name": {
         "type": "string"
        },
        "passing": {
         "type": "boolean"
        },
        "allowedVersions": {
         "type": "array",
         "items": {
          "type": "string"
         }
        },
        "message": {
         "type": "string"
        },
        "bypassGates": {
         "type": "boolean"
        }
       }
      }
     },
     "artifactType": {
      "type": "string"
     },
     "source": {
      "type": "string"
     },
     "title": {
      "type": "string"
     },
     "description": {
      "type": "string"
     }
    }
   }
  }
 },
 "RolloutSchedule": {
  "type": "object",
  "required": [],
  "properties": {
   "apiVersion": {
    "type": "string"
   },
   "kind": {
    "type": "string"
   },
   "metadata": {
    "type": "object"
   },
   "spec": {
    "type": "object",
    "required": [
     "rolloutSelector",
     "rules"
    ],
    "properties": {
     "rolloutSelector": {
      "type": "object",
      "properties": {
       "matchLabels": {
        "type": "object",
        "additionalProperties": {
         "type": "string"
        }
       },
       "matchExpressions": {
        "type": "array",
        "items": {
         "type": "object",
         "required": [
          "key",
          "operator"
         ],
         "properties": {
          "key": {
           "type": "string"
          },
          "operator": {
           "type": "string"
          },
          "values": {
           "type": "array",
           "items": {
            "type": "string"
           }
          }
         }
        }
       }
      }
     },
     "action": {
      "type": "string"
     },
     "timezone": {
      "type": "string"
     },
     "rules": {
      "type": "array",
      "items": {
       "type": "object",
       "properties": {
        "name": {
         "type": "string"
        },
        "timeRange": {
         "type": "object",
         "required": [
          "start",
          "end"
         ],
         "properties": {
          "start": {
           "type": "string"
          },
          "end": {
           "type": "string"
          }
         }
        },
        "daysOfWeek": {
         "type": "array",
         "items": {
          "type": "string"
         }
        },
        "dateRange": {
         "type": "object",
         "required": [
          "start",
          "end"
         ],
         "properties": {
          "start": {
           "type": "string"
          },
          "end": {
           "type": "string"
          }
         }
        }
       }
      }
     }
    }
   },
   "status": {
    "type": "object",
    "properties": {
     "observedGeneration": {
      "type": "integer"
     },
     "active": {
      "type": "boolean"
     },
     "activeRules": {
      "type": "array",
      "items": {
       "type": "string"
      }
     },
     "nextTransition": {
      "type": "string"
     },
     "managedGates": {
      "type": "array",
      "items": {
       "type": "string"
      }
     },
     "matchingRollouts": {
      "type": "integer"
     },
     "conditions": {
      "type": "array",
      "items": {
       "type": "object",
       "required": [
        "lastTransitionTime",
        "message",
        "reason",
        "status",
        "type"
       ],
       "properties": {
        "lastTransitionTime": {
         "type": "string"
        },
        "message": {
         "type": "string"
        },
        "observedGeneration": {
         "type": "integer"
        },
        "reason": {
         "type": "string"
        },
        "status": {
         "type": "string"
        },
        "type": {
         "type": "string"
        }
       }
      }
     }
    }
   }
  }
 }
};
